"""The options of reading a graph: what each may be, which graphs it is for, how it is spelt."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heterophily.data.memory import as_bytes
from heterophily.errors import InputError

KIND_NAMES = {
    "dataset": "catalog names",
    "npz": ".npz files",
    "markup": ".graphml and .gexf files",
    "tables": "tables (--edges, --nodes)",
    "disk": "graphs on disk (.disk)",
}
"""The kinds of graphs, as messages call them."""

_ALL = tuple(KIND_NAMES)
_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


# --- words of the command line to values ---------------------------------------------------------


def delimiter_of(text: str | None) -> str | None:
    """Return the character that a word for a delimiter stands for.

    >>> delimiter_of("tab"), delimiter_of(";")
    ('\\t', ';')
    """
    return _DELIMITERS.get(text or "", text)


def column_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas; a name with a comma is quoted.

    >>> column_names('a, b,"c, d"')
    ('a', 'b', 'c, d')
    """
    rows = csv.reader([text], skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def column_kinds(pairs: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Return the kinds of columns in words such as ``age=number``.

    >>> column_kinds(["zip=category", "a=b=date"])
    {'zip': 'category', 'a=b': 'date'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not (equals and name and kind.strip()):
            raise InputError(f"--column {pair!r}: write it as NAME=KIND, for example age=number")
        found[name] = kind.strip()
    return found


# --- values to words -----------------------------------------------------------------------------


def _say(flag: str, value: str) -> list[str]:
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _say_names(flag: str, value: tuple[str, ...]) -> list[str]:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(value)
    return _say(flag, out.getvalue())


def _say_kinds(flag: str, value: Mapping[str, str]) -> list[str]:
    return [word for name, kind in value.items() for word in _say(flag, f"{name}={kind}")]


def _say_delimiter(flag: str, value: str) -> list[str]:
    return _say(flag, {"\t": "tab", " ": "space"}.get(value, value))


def _say_text(flag: str, value: Any) -> list[str]:
    return _say(flag, str(value))


# --- values as they must be ----------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError("is a text")
    return value


def _path(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise InputError("is the name of a file")
    return str(os.fspath(value))


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise InputError("is a list of column names")
    return tuple(value)


def _kinds(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise InputError("gives kinds to columns, such as age = number")
    return {_text(name): _text(kind) for name, kind in value.items()}


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError("is true or false")
    return value


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("is a whole number")
    return value


def _delimiter(value: Any) -> str:
    return delimiter_of(_text(value)) or ""


def _size(value: Any) -> str:
    as_bytes(_text(value))
    return str(value)


def _choice(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise InputError("is " + " or ".join(map(repr, choices)))
        return str(value)

    return check


@dataclass(frozen=True)
class Option:
    """One option: its word, which a value follows, or a word for each value; its check."""

    flag: str | Mapping[Any, str]
    check: Callable[[Any], Any] = _text
    kinds: tuple[str, ...] = ("tables",)
    say: Callable[[str, Any], list[str]] = _say_text

    def words(self, value: Any) -> list[str]:
        """Return what the command line says for a value."""
        return self.say(self.flag, value) if isinstance(self.flag, str) else [self.flag[value]]


_DIRECTIONS = {"keep": "--directed", "drop": "--undirected"}
_LOOPS = {"keep": "--self-loops", "remove": "--no-self-loops"}
OPTIONS: Mapping[str, Option] = {
    "graph": Option("", _path, _ALL, say=lambda _, value: [value]),
    "edges": Option("--edges", _path),
    "nodes": Option("--nodes", _path),
    "label": Option("--label", kinds=("markup", "tables")),
    "source": Option("--source"),
    "target": Option("--target"),
    "weight": Option("--weight"),
    "edge_type": Option("--edge-type"),
    "node_id": Option("--id"),
    "split": Option("--split"),
    "features": Option("--features", _names, say=_say_names),
    "ignore": Option("--ignore", _names, say=_say_names),
    "unknown_ends": Option("--unknown-ends", _choice("refuse", "add", "drop")),
    "columns": Option("--column", _kinds, say=_say_kinds),
    "encode": Option({False: "--no-encode"}, _flag),
    "labels_are_classes": Option(
        {True: "--labels-are-classes"}, _flag, ("npz", "markup", "tables")
    ),
    "delimiter": Option("--delimiter", _delimiter, say=_say_delimiter),
    "has_header": Option({False: "--no-header", True: "--header"}, _flag),
    "direction": Option(_DIRECTIONS, _choice("drop", "keep"), _ALL),
    "self_loops": Option(_LOOPS, _choice("remove", "keep"), _ALL),
    "fill_unlabelled": Option("--fill-unlabelled", _number, ("dataset", "npz")),
    "name": Option("--name", kinds=_ALL),
    "data_folder": Option("--data-folder", _path, _ALL),
    "offline": Option({True: "--offline"}, _flag, _ALL),
    "memory": Option("--memory", _size, _ALL),
}
"""Every option by its name in Python."""


def checked(name: str, value: Any) -> Any:
    """Return an option as it must be, or say what it is.

    >>> checked("unknown_ends", "add")
    'add'
    """
    try:
        return OPTIONS[name].check(value)
    except (InputError, TypeError) as error:
        told = error if isinstance(error, InputError) else "has another kind of value"
        raise InputError(f"{name}={value!r}: {name} {told}") from None
