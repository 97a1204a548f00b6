"""User ids to node numbers: integers by table or by search, strings by hash; never merged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.memory import BOMB_BYTES, need
from heterophily.data.tables.table import Table, also, place
from heterophily.data.wording import short
from heterophily.errors import InputError

_LONGEST = 1000  # characters of an id; NumPy stores every string as long as the longest
_MOST_WIDER = 40  # times that the stored ids may be larger than their characters
_WITH_POINT = r"(?:0|-?[1-9]\d{0,17})\.0+"
_NO_ROWS = np.zeros(0, np.int64)
_ROOM = 4  # a lookup table may be this many times longer than the list of ids


def check_ids(table: Table, name: str, column: Any) -> None:
    """Refuse empty, endless or NUL-bearing ids, with their places."""
    rows, fault = _rows(pc.is_null(column)) if column.null_count else _NO_ROWS, "empty id"
    if not rows.size and column.type == pa.string():
        lengths = pc.utf8_length(column)
        low, high = pc.min_max(lengths).as_py().values()
        if low == 0:
            rows = _rows(pc.equal(lengths, 0))
        elif high > _LONGEST:
            rows, fault = _rows(pc.greater(lengths, _LONGEST)), f"the id has {high:,} characters"
        elif pc.any(pc.match_substring(column, "\0")).as_py():
            rows, fault = _rows(pc.match_substring(column, "\0")), "the id has a zero byte"
    if rows.size:
        raise InputError(
            f"{table.path.name}, {place(table, int(rows[0]))}, column {short(name)}: {fault}; "
            f"every row needs the id of a node{_hint(rows)}{also(table, rows[1:])}"
        )


def _hint(rows: NDArray[np.int64]) -> str:
    is_first = rows.tolist() == [0]
    return "; if it is a second header line, remove it" if is_first else ", or remove the row"


def _rows(mask: Any) -> NDArray[np.int64]:
    return np.flatnonzero(pc.fill_null(mask, False).to_numpy())


def without_points(columns: Sequence[tuple[Table, str, Any]]) -> list[Any]:
    """Return id columns; those with 7.0 for every 7 as integers, with a remark, if others have 7.

    A program that keeps integers as floating-point numbers writes them so. Each column must hold
    integers throughout, or points throughout; otherwise all stay as they are written.
    """
    found = [column for _, _, column in columns]
    texts = [side for side, column in enumerate(found) if not _is_integer(column)]
    if not texts or len(texts) == len(found) or not all(_has_points(found[k]) for k in texts):
        return found
    for side in texts:
        table, name, column = columns[side]
        table.remarks.append(
            f"{table.path.name}, column {short(name)}: whole numbers with a point "
            f"({short(column[0].as_py())}) read as integers"
        )
        found[side] = pc.replace_substring_regex(column, r"\.0+$", "").cast(pa.int64())
    return found


def _has_points(column: Any) -> bool:
    if not re.fullmatch(_WITH_POINT, column[0].as_py()):
        return False
    return bool(pc.all(pc.match_substring_regex(column, f"^{_WITH_POINT}$")).as_py())


def _is_integer(column: Any) -> bool:
    return bool(column.type == pa.int64())


def same_kind(*columns: Any) -> list[Any]:
    """Return id columns as integers if all of them are, else all as strings."""
    if all(_is_integer(column) for column in columns):
        return list(columns)
    return [column.cast(pa.string()) for column in columns]


def _bounds(columns: Sequence[Any]) -> tuple[int, int]:
    limits = [pc.min_max(column).as_py() for column in columns]
    return min(limit["min"] for limit in limits), max(limit["max"] for limit in limits)


def _pieces(column: Any) -> list[NDArray[np.int64]]:
    return [chunk.to_numpy() for chunk in column.chunks]


def _strings(column: Any) -> NDArray[np.str_]:
    lengths = pc.min_max(pc.utf8_length(column)).as_py()
    longest = lengths["max"] or 1
    size, held = 4 * longest * len(column), int(pc.sum(pc.utf8_length(column)).as_py() or 0)
    if size > BOMB_BYTES and size > _MOST_WIDER * held:
        raise InputError(
            f"one node id has {longest:,} characters and the others are short; memory is needed "
            f"as if all {len(column):,} ids had this length, which is {size / 2**30:,.1f} GB; "
            "shorten that id"
        )
    need(size, f"a list of {len(column):,} ids of up to {longest:,} characters")
    return np.array(column.to_pylist(), dtype=np.str_)


def number_ids(columns: Sequence[Any]) -> tuple[list[NDArray[np.int32]], NDArray[Any]]:
    """Number the distinct ids of some columns in increasing order.

    Returns the columns as node numbers and the sorted ids. Integers in a narrow range are found
    through a table of that range; others (1e18) by sorting; strings in code point order.
    """
    count = sum(len(column) for column in columns)
    if not _is_integer(columns[0]):
        distinct = pc.unique(pa.chunked_array([c for col in columns for c in col.chunks]))
        distinct = distinct.take(pc.array_sort_indices(distinct))
        return [_index_in(column, distinct) for column in columns], _strings(distinct)
    low, high = _bounds(columns)
    if high - low >= _ROOM * count:
        pieces = [np.concatenate(_pieces(column)) for column in columns]
        ids = np.unique(np.concatenate(pieces))
        return [np.searchsorted(ids, piece).astype(np.int32) for piece in pieces], ids
    present = np.zeros(high - low + 1, np.bool_)
    for column in columns:
        for piece in _pieces(column):
            present[piece - low if low else piece] = True
    if present.all():
        return [_shifted(column, low) for column in columns], np.arange(low, high + 1)
    numbers = np.cumsum(present, dtype=np.int32)
    numbers -= 1
    return (
        [np.concatenate([numbers[piece - low] for piece in _pieces(c)]) for c in columns],
        low + np.flatnonzero(present),
    )


def _shifted(column: Any, low: int) -> NDArray[np.int32]:
    result = np.empty(len(column), np.int32)
    start = 0
    for piece in _pieces(column):
        np.subtract(piece, low, out=result[start : start + piece.size], casting="unsafe")
        start += piece.size
    return result


def _index_in(column: Any, values: Any) -> NDArray[np.int32]:
    """Return the position of each id among ``values``, -1 where it is not there."""
    found = pc.fill_null(pc.index_in(column, value_set=values), -1)
    return np.concatenate([chunk.to_numpy() for chunk in found.chunks])


def repeats(column: Any) -> tuple[int, NDArray[np.int64]] | None:
    """Return the rows that repeat an earlier id, and the row that the first of them repeats."""
    if _is_integer(column):
        values = column.to_numpy()
        if (values[1:] > values[:-1]).all():
            return None
    codes = column.combine_chunks().dictionary_encode().indices.to_numpy()
    if codes.size == 0 or int(codes.max()) + 1 == codes.size:
        return None
    _, first = np.unique(codes, return_index=True)
    is_later = np.ones(codes.size, np.bool_)
    is_later[first] = False
    later = np.flatnonzero(is_later)
    return int(first[codes[later[0]]]), later


def find_ids(columns: Sequence[Any], nodes: Any) -> tuple[list[NDArray[np.int32]], NDArray[Any]]:
    """Return columns as positions in the list of nodes (-1 = not there), and the ids as NumPy."""
    if not _is_integer(nodes):
        values = nodes.combine_chunks()
        return [_index_in(column, values) for column in columns], _strings(nodes)
    ids = np.concatenate(_pieces(nodes))
    low, high = int(ids.min()), int(ids.max())
    if high - low < _ROOM * (ids.size + sum(len(column) for column in columns)):
        numbers = np.full(high - low + 2, -1, np.int32)  # the last entry: outside the range
        numbers[ids - low] = np.arange(ids.size, dtype=np.int32)
        lookup = [
            [numbers[np.where((x < low) | (x > high), -1, x - low)] for x in _pieces(column)]
            for column in columns
        ]
        return [np.concatenate(pieces) for pieces in lookup], ids
    order = np.argsort(ids).astype(np.int32)
    ranked = ids[order]
    found = []
    for column in columns:
        values = np.concatenate(_pieces(column))
        at = np.minimum(np.searchsorted(ranked, values), ids.size - 1)
        found.append(np.where(ranked[at] == values, order[at], -1).astype(np.int32))
    return found, ids
