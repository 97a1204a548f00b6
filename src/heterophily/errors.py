"""The errors of the package: one family, messages that name the place and the remedy."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


class HeterophilyError(Exception):
    """Base of every error that the package raises on purpose."""


class InputError(HeterophilyError, ValueError):
    """A file, row, column, argument or array is not what it should be."""


class MemoryLimitError(InputError):
    """Something needs more memory than the limit; nothing was allocated."""


class UndefinedError(InputError):
    """A quantity has no value on this graph; ``why`` is the reason without the names.

    >>> str(UndefinedError("edge homophily of 'g'", "it has no edge"))
    "edge homophily of 'g' is undefined: it has no edge"
    """

    def __init__(self, quantity: str, why: str) -> None:
        super().__init__(quantity, why)
        self.quantity, self.why = quantity, why

    def __str__(self) -> str:
        """Return one sentence."""
        return f"{self.quantity} is undefined: {self.why}"


class UnknownNameError(HeterophilyError, KeyError):
    """A name is not in the table it was looked up in."""

    def __str__(self) -> str:
        """Return the message itself (``KeyError`` would print its repr)."""
        return str(self.args[0])


class DataNotFoundError(HeterophilyError, FileNotFoundError):
    """A dataset is neither on this machine nor downloadable."""


class MissingExtraError(HeterophilyError, ImportError):
    """A feature needs an optional package that is not installed."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory is short, however the library at work puts it.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    words = ("can't allocate memory", "out of memory", "bad_alloc", "Unable to allocate")
    return isinstance(error, MemoryError) or (
        isinstance(error, (RuntimeError, OSError)) and any(word in str(error) for word in words)
    )


OUT_OF_MEMORY = "not enough memory for this graph; close other programs or use a smaller one"


_MOST_NAMES, _FIRST_NAMES = 60, 12  # a longer list of names is cut


def lookup(table: Mapping[str, T], kind: str, name: str) -> T:
    """Return ``table[name]``, or say which names exist and which is nearest.

    >>> lookup({"cora": 1, "texas": 2}, "name", "texsa")
    Traceback (most recent call last):
    heterophily.errors.UnknownNameError: unknown name 'texsa'; did you mean 'texas'? \
known: cora, texas
    """
    with contextlib.suppress(KeyError, TypeError):  # TypeError: a list has no hash
        return table[name]
    near = difflib.get_close_matches(str(name), table, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    names = sorted(table)
    shown = names if len(names) <= _MOST_NAMES else [*names[:_FIRST_NAMES], "..."]
    more = "" if shown == names else f" ({len(names)} in all)"
    raise UnknownNameError(f"unknown {kind} {name!r}; {hint}known: {', '.join(shown)}{more}")
