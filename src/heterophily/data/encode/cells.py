"""Cells of one column as numbers or words, whatever type the column came in.

A column is a ``pa.ChunkedArray`` (written ``Any``): typed in Parquet files and data frames,
inferred or text in CSV. The functions here give the same answer for a value in each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "#n/a", "<na>",
           "\\n")  # fmt: skip
"""Cells that mean "no value" in a column of numbers or dates (in any case of letters).

In a column of categories only an empty cell does: NA may be Namibia.
"""

TRUE = ("1", "true", "t", "yes", "y", "on")
FALSE = ("0", "false", "f", "no", "n", "off")


@dataclass(frozen=True)
class Strange:
    """Cells that do not fit their column and count as missing: how many, and the first few."""

    count: int = 0
    rows: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()


SHOWN = 20  # strange cells that are kept, to be named


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    types = pa.types
    view = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or view(kind))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is a number."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_time(kind: Any) -> bool:
    """Whether an Arrow type is a date or a point in time."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def plain(column: Any) -> Any:
    """Return a column without dictionary, text as ``string``, times that passed as seconds and
    times of day as text.

    An Arrow array becomes chunked.
    """
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type) and column.type != pa.string():
        column = column.cast(pa.string())
    if pa.types.is_duration(column.type):  # seconds
        column = pc.divide(column.cast(pa.duration("us"), safe=False).cast(pa.int64()), 1e6)
    if pa.types.is_time(column.type):  # of day
        column = column.cast(pa.string())
    if pa.types.is_float16(column.type):  # Arrow cannot compare them
        column = column.cast(pa.float32())
    return column


def trimmed(column: Any) -> Any:
    """Return text without blanks at the ends; what is empty then is null."""
    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def without_missing(column: Any) -> Any:
    """Return trimmed text in which cells that mean "no value" are null."""
    column = trimmed(column)
    is_none = pc.is_in(pc.utf8_lower(column), value_set=pa.array(MISSING))
    return pc.if_else(is_none, pa.scalar(None, pa.string()), column)


def as_numpy(column: Any) -> NDArray[np.float64]:
    """Return a column of numbers as float64; null and infinite values are NaN."""
    numbers = pc.cast(column, pa.float64(), safe=False)
    values = numbers.to_numpy()
    if not np.isfinite(values).all():
        values = np.where(np.isfinite(values), values, np.nan)
    return np.asarray(values)


def strange_cells(before: Any, after: Any) -> Strange:
    """Return the cells of a text column that became null although they held something."""
    lost = before.null_count != after.null_count
    if not lost:
        return Strange()
    mask = pc.and_(pc.is_valid(before), pc.is_null(after))
    rows = np.flatnonzero(mask.to_numpy())
    first = rows[:SHOWN]
    texts = tuple(before.take(pa.array(first)).to_pylist())
    return Strange(int(rows.size), tuple(int(row) for row in first), texts)


def words_of(column: Any) -> tuple[list[str], NDArray[np.int32]]:
    """Return the distinct words of a column in order of appearance, and per row its word or -1.

    A whole number is written in the same way from an integer, a float and a text column.

    >>> words_of(pa.chunked_array([pa.array([2.0, None, 1.5])]))
    (['2', '1.5'], array([ 0, -1,  1], dtype=int32))
    """
    column = plain(column)
    if pa.types.is_boolean(column.type):
        column = pc.if_else(column, "true", "false")
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 is 0.0
    coded = column.combine_chunks().dictionary_encode()
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    if is_text(column.type):  # each different cell is trimmed once
        again = trimmed(coded.dictionary).dictionary_encode()
        words = pc.fill_null(again.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32)
        if words.size != len(again.dictionary):  # some became alike, or empty
            codes = np.append(words, np.int32(-1))[codes]
        return again.dictionary.to_pylist(), codes
    values = coded.dictionary.to_pylist()
    if pa.types.is_floating(column.type):
        keep = [value == value and abs(value) != np.inf for value in values]
        texts = [str(int(v)) if k and v == int(v) else repr(v) for v, k in zip(values, keep)]  # noqa: B905
        if not all(keep):
            place = np.cumsum(keep, dtype=np.int32) - 1
            lookup = np.where(keep, place, -1).astype(np.int32)
            codes = np.append(lookup, np.int32(-1))[codes]
            texts = [text for text, k in zip(texts, keep, strict=True) if k]
        return texts, codes
    return [str(value) for value in values], codes
