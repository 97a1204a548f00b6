"""Errors are ours and helpful, and the package does not warn: what matters is said in results."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syntax import FILES, SOURCE, nodes

import heterophily
from heterophily.errors import HeterophilyError

OF_PYTHON = {
    "AttributeError": "a name that a module or an estimator does not have (hasattr asks so)",
    "IndexError": "the end of a sequence (Python's iteration asks so)",
    "KeyboardInterrupt": "Ctrl-C, passed on",
    "MemoryError": "the native engine or a worker ran out of memory",
    "OSError": "compiled code could not read or write; commands say it as for any file",
    "typer.Exit": "the exit code of a command",
}
"""Exceptions of others that may be raised, each with its reason."""


def classes() -> dict[str, list[str]]:
    """Every class of the package with the names of its bases."""
    return {
        node.name: [ast.unparse(base) for base in node.bases]
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    }


def is_ours(name: str, bases: dict[str, list[str]]) -> bool:
    return name == "HeterophilyError" or any(is_ours(base, bases) for base in bases.get(name, ()))


def caught() -> set[str]:
    """Names of exceptions that some ``except`` of the package catches."""
    handlers = (
        node.type
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler) and node.type is not None
    )
    return {
        ast.unparse(name).rpartition(".")[2]
        for kind in handlers
        for name in (kind.elts if isinstance(kind, ast.Tuple) else [kind])
    }


def raised() -> Iterator[tuple[str, str]]:
    """(place, name of the class) for each ``raise Class(...)`` and each ``raise helper(...)``."""
    for path in FILES:
        returns = {
            node.name: ast.unparse(node.returns)
            for node in nodes(path)
            if isinstance(node, ast.FunctionDef) and node.returns is not None
        }
        for node in nodes(path):
            if not isinstance(node, ast.Raise) or node.exc is None:
                continue
            what = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(what, ast.Name | ast.Attribute):
                text = ast.unparse(what)
                helper = returns.get(text.rpartition(".")[2])
                yield (
                    f"{path.relative_to(SOURCE)}:{node.lineno}",
                    text if helper is None else helper,
                )


def test_every_error_is_of_our_family_or_has_a_reason() -> None:
    bases, inside = classes(), caught()
    strange = [
        f"{place} raises {name}"
        for place, name in raised()
        if not (is_ours(name, bases) or name in OF_PYTHON)
        and not (name in bases and name in inside)  # a signal that never leaves the package
        and not name.islower()  # a caught error, raised again
    ]
    assert not strange


def test_errors_of_our_family_are_also_what_python_would_raise() -> None:
    public = [getattr(heterophily, name) for name in heterophily.__all__ if name.endswith("Error")]
    assert len(public) >= 5
    for error in public:
        assert issubclass(error, HeterophilyError)
        assert error is HeterophilyError or len(error.__bases__) == 2


def test_the_package_does_not_warn() -> None:
    """Notes are part of results (``remarks``, ``engine_note``); a warning is lost in a log."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "warn")
    ]
    assert not found
