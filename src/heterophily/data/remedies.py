"""What a user can do about a sentence: a value. Each surface has its own words for it.

A reader says *what* helps (``remedy("name-id")``); the command line and Python say it with options
and arguments, the page with its lists and boxes (:mod:`heterophily.web.wording`). A surface that
cannot offer a remedy has the empty text for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Words = Mapping[str, str]
"""For each kind of remedy its words, with the facts of the remedy in braces."""

COMMAND_WORDS: Words = {
    "first-line-is-data": "pass has_header=False (--no-header) if the first line is data",
    "leave-out": "leave the column out with ignore=[{column}] (--ignore)",
    "leave-that-out": "leave the column out (ignore=, --ignore)",
    "name-both-ends": "pass both source= and target=, or neither",
    "name-edge-type": "name the column that holds them with edge_type= (--edge-type)",
    "name-ends": "say which columns are the ends of an edge with source= and target= "
    "(--source, --target)",
    "name-id": "say which is the id of the nodes with node_id= (--id)",
    "name-label": "name the label column with --label (a .disk folder or .npz file: convert the "
    "tables again with --label), or pass labels=",
    "or-add-unknown": ", or pass unknown_ends='add' (--unknown-ends add)",
    "or-choose-unknown": ", or choose what becomes of such edges with unknown_ends= "
    "(--unknown-ends add or drop)",
    "or-delimiter": " (or pass the delimiter that separates them)",
    "or-take-cells": "; labels_are_classes=True takes each cell as a class",
    "or-take-values": "; labels_are_classes=True takes each value as a class",
    "fixed-splits": "--splits fixed uses them",
    "more-splits": "raise --repeats",
    "raise-memory": "raise the limit: --memory {size}",
    "random-splits": "use --splits random",
    "send-edges": "pass edges= (--edges)",
    "send-nodes": "pass nodes= (--nodes) too",
    "tables": "tables (--edges, --nodes)",
    "use-as-labels": "label={stem} (--label) takes {first} and {second} as labels of the ends",
    "use-as-types": "edge_type={column} (--edge-type) keeps them apart",
    "use-as-weights": "weight={column} (--weight) uses them as weights",
}
"""The words of the command line and of Python."""

_WORDS: ContextVar[Words] = ContextVar("words of the surface", default=COMMAND_WORDS)


@dataclass(frozen=True, slots=True)
class Remedy:
    """A kind of remedy and its facts; its text is in the words of the surface that is spoken."""

    kind: str
    facts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return it in words."""
        return _WORDS.get()[self.kind].format(**dict(self.facts))


def remedy(kind: str, **facts: object) -> Remedy:
    """Return a remedy; facts are quoted as Python writes them.

    >>> print(remedy("leave-out", column="age"))
    leave the column out with ignore=['age'] (--ignore)
    """
    return Remedy(kind, tuple((name, repr(fact)) for name, fact in facts.items()))


@contextmanager
def speaking(words: Words) -> Iterator[None]:
    """Say remedies in the words of a surface in this block.

    >>> with speaking({"send-nodes": "send a table of nodes too"}):
    ...     print(remedy("send-nodes"))
    send a table of nodes too
    """
    token = _WORDS.set(words)
    try:
        yield
    finally:
        _WORDS.reset(token)
