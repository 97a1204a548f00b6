"""How values of a user's file are written in a message."""

from __future__ import annotations

import re


class Doubt(str):
    """A remark that says what looks wrong in the data; other remarks say what was done."""

    __slots__ = ()


def short(value: object, limit: int = 40) -> str:
    """Quote a value for a message, cut if it is long.

    >>> short("x" * 100, limit=8)
    "'xxxxxxxx...'"
    """
    text = str(value)
    return repr(text if len(text) <= limit else text[:limit] + "...")


def listed(names: list[str] | tuple[str, ...], limit: int = 5) -> str:
    """Quote the first names of a list, and say how many there are when some are left out.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b', ... (3 in all)"
    """
    shown = ", ".join(short(name) for name in names[:limit])
    return shown + (f", ... ({len(names)} in all)" if len(names) > limit else "")


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> count(1, "node"), count(2000, "node")
    ('1 node', '2,000 nodes')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def capital(text: str) -> str:
    """Return a text with a capital letter at its beginning; a file or a model keeps its name.

    >>> capital("no edge is left"), capital("edges.csv: no edge"), capital("acm-gcn is better")
    ('No edge is left', 'edges.csv: no edge', 'acm-gcn is better')
    """
    first = text.partition(" ")[0]
    is_name = re.search(r"\w[.-]\w|[a-z]\d|\*", first) is not None
    return text if is_name else text[:1].upper() + text[1:]


def safe_name(name: str) -> str:
    """Return a name that is a harmless file name on every system.

    >>> safe_name("../my graph<b>")
    'my-graph-b'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:80] or "graph"
