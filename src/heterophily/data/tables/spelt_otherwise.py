"""Why ends of edges are not in the node table although they seem to be: spelt in another way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from heterophily.data.wording import short

ENOUGH = 0.5
"""Share of the unknown ends that must be found in another spelling."""

_MOST = 1000  # unknown ends that are looked at
_ROUNDED = r"^[+-]?\d([.,]\d+)?[eE]\+?\d+$"
_NO_LETTER = r"[^\pL\pN]"
_PLAIN = r"^\d+$"


def _letters(ids: Any) -> Any:
    return pc.utf8_lower(pc.replace_substring_regex(ids, _NO_LETTER, ""))


def _digits(ids: Any) -> Any:
    return pc.replace_substring_regex(ids, r"\D", "")


def _tails(ids: Any) -> Any:
    """Return ids without what all of them begin with, digits kept."""
    low, high = pc.min_max(ids).as_py().values() if len(ids) > 1 else ("", "")
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))
    first = "".join(letter for letter, _ in alike).rstrip("0123456789")
    return pc.utf8_slice_codeunits(ids, len(first))


_WAYS: Mapping[str, Callable[[Any], Any]] = {
    "leading zeros": lambda ids: pc.utf8_ltrim(ids, "0"),
    "upper and lower case": pc.utf8_lower,
    "blanks and signs": _letters,
}


def spelt_otherwise(unknown: Any, known: Any, nodes: str) -> str:
    """Say in which spelling most unknown ends are ids of the node table; else nothing.

    ``unknown`` and ``known`` are Arrow arrays of ids, ``nodes`` is the name of the node table.

    >>> spelt_otherwise(pa.array(["7", "12"]), pa.array(["007", "012"]), "n.csv")
    "the ids differ in leading zeros ('7' here, '007' in n.csv); write them alike in both tables"
    """
    ends, ids = (column.cast(pa.string()).unique() for column in (unknown, known))
    ends = ends[:_MOST]
    rounded = [column for column in (ends, ids) if _share(column, _ROUNDED) >= ENOUGH]
    if rounded:
        return (
            f"ids such as {short(rounded[0][0].as_py())} were rounded by a spreadsheet program; "
            "export them again, as text"
        )
    ways = dict(_WAYS)
    if any(_share(column, _PLAIN) == 1 for column in (ends, ids)):
        ways["what stands beside the number"] = _digits
    ways["what stands in front"] = _tails
    for what, folded in ways.items():
        found = pc.index_in(folded(ends), value_set=folded(ids))
        if len(ends) and 1 - found.null_count / len(ends) >= ENOUGH:
            first = pc.index(pc.is_valid(found), True).as_py()
            here, there = ends[first].as_py(), ids[found[first].as_py()].as_py()
            return (
                f"the ids differ in {what} ({short(here)} here, {short(there)} in {nodes}); write "
                "them alike in both tables"
            )
    return ""


def _share(column: Any, pattern: str) -> float:
    if not len(column):
        return 0.0
    return float(pc.mean(pc.match_substring_regex(column, pattern).cast(pa.int8())).as_py())
