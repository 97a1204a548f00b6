"""What a column holds, guessed from its cells: a number, a category, a date, a text, an id, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.encode.cells import (
    FALSE,
    TRUE,
    as_numpy,
    is_number,
    is_text,
    is_time,
    plain,
    without_missing,
)
from heterophily.data.encode.dates import are_days, formats_of
from heterophily.data.encode.numerals import decimal_of, numbers_of
from heterophily.data.remedies import remedy
from heterophily.errors import InputError

KINDS: Mapping[str, str] = {
    "number": "scaled by median and quartiles; missing = median",
    "count": "left as it is; missing = 0",
    "boolean": "1 and 0; missing = 0",
    "category": "one feature per level, rare levels together, many levels hashed",
    "date": "elapsed time, year, month, weekday and hour",
    "text": "hashed words and pairs of words",
    "raw": "a number, left as it is; missing = 0",
    "id": "left out: (nearly) every node has its own value",
    "constant": "left out: all nodes have the same value",
    "almost-empty": "left out: hardly any node has a value",
    "ignore": "left out as asked",
}
"""The kinds of columns and what becomes of each; where cells are missing, a feature says so."""

LEFT_OUT = ("id", "constant", "almost-empty", "ignore")
"""Kinds that are no features."""

SAMPLE = 10_000
"""Rows, spread over the table, from which the kind is guessed."""

DATES = 500
"""Cells of the sample that are tried as dates."""

ALMOST_EMPTY = 0.005
"""Share of filled cells under which a column is almost empty."""

MOSTLY = 0.8
"""Share of the filled cells that must be numbers (or dates) for the column to be of that kind."""

ALMOST_ALL = 0.95
"""Share of numbers from which a column is of numbers, however few different ones there are."""

ENOUGH_ROWS = 20
"""From so many rows on, values that never repeat are taken for ids."""

NEVER_REPEAT = 0.9
"""Share of distinct values from which words are ids (one or two words) or text (more)."""

TEXT_WORDS = 3.0
"""Mean number of words of a cell from which words are text, if they seldom repeat."""

SELDOM_REPEAT = 0.3
"""Share of distinct values from which cells of several words are text."""

MOSTLY_ZERO = 0.7
"""Share of zeros from which numbers that are never negative may be counts ..."""

COUNTS_FROM = 16
"""... if the table has so many such columns: a bag of words. Fewer are numbers like others."""

FEW_NUMBERS = 30
"""Words among numbers make them categories if there are at most so many different values."""

FEW_WORDS = 5
"""Up to so many different words among more numbers than that mean no value: ND, <0.1, .A, #REF!."""

_LIST = r"^\s*(\[.*\]|\{.*\})\s*$"  # JSON lists and records, arrays of PostgreSQL
_LIKE_A_NUMBER = r"^[\s$€£¥+\-−(.]*\d|^[A-Za-z]{3,9}\.?\s+\d"  # or a date: Mar 5, 2021
_ID_NAME = re.compile(r"(.*[_\W])?(id|uuid|guid|key|index|hash|number|nr|no)|.*Id", re.IGNORECASE)
_TIME_NAME = re.compile(
    r"(.*[_\W])?(time|timestamp|ts|date|datetime|day|created|updated|joined|since|at|on|epoch|seen"
    r"|login|opened|closed|modified)([_\W]?(s|sec|ms|millis|us|ns|utc|unix))?"
    r"|.*(?-i:Time|Timestamp|Date|At)",
    re.IGNORECASE,
)
_EPOCHS = (3e8, 4.2e9)  # seconds since 1970, of 1979 to 2103
_CODE = r"^\d{2,6}$"  # a code of digits: with a leading zero, and all as long (01067, 10115)
_WRITTEN = re.compile(r"feature_(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to hold: its kind, and whether it may be one column of a bag of words."""

    name: str
    kind: str
    may_be_count: bool = False


def kinds_of(table: Mapping[str, Any], asked: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the kind of each column of a table: as asked, else guessed.

    Columns feature_0, feature_1, ... of numbers are a matrix that this package wrote: ``raw``.

    >>> kinds_of({"age": pa.array([31, 40, 28]), "city": pa.array(["Rome", "Oslo", "Rome"])})
    {'age': 'number', 'city': 'category'}
    """
    asked = dict(asked or {})
    for name, kind in asked.items():
        if name not in table:
            raise InputError(f"column {name!r}: no such column; columns: {', '.join(table)}")
        if kind not in KINDS:
            raise InputError(f"column {name!r}: unknown kind {kind!r}; kinds: {', '.join(KINDS)}")
    guesses = {name: guess(name, column) for name, column in table.items() if name not in asked}
    bag = sum(found.may_be_count for found in guesses.values()) >= COUNTS_FROM
    written = _is_written(table)
    kinds = {}
    for name, column in table.items():
        if name in asked:
            kinds[name] = asked[name]
        elif written and is_number(plain(column).type):
            kinds[name] = "raw"
        else:
            found = guesses[name]
            kinds[name] = "count" if bag and found.may_be_count else found.kind
    return kinds


def _is_written(table: Mapping[str, Any]) -> bool:
    """Whether the columns are feature_0, feature_1, ... as this package writes them."""
    matches = [_WRITTEN.fullmatch(name) for name in table]
    numbers = {int(match.group(1)) for match in matches if match}
    return bool(table) and len(numbers) == len(table) and max(numbers) < len(table)


def guess(name: str, column: Any) -> Guess:
    """Guess the kind of one column (``pa.ChunkedArray`` or ``pa.Array``)."""
    column = plain(column)
    kind, rows = column.type, len(column)
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(
            f"column {name!r} holds {kind} values; a cell must be one number or one text: "
            f"{remedy('leave-out', column=name)}, or spread it over several"
        )
    if not (is_text(kind) or is_number(kind) or is_time(kind) or pa.types.is_boolean(kind)):
        column = column.cast(pa.string())
    if pa.types.is_floating(kind) and column.null_count < rows:
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    if column.null_count > (1 - ALMOST_EMPTY) * rows or column.null_count == rows:
        return Guess(name, "almost-empty")
    sample = _spread(column)
    if is_text(column.type):
        sample = without_missing(sample)
    if _are_alike(sample):  # rare, so all cells are looked at
        column = without_missing(column) if is_text(column.type) else column
        filled = rows - column.null_count
        if filled == 0 or filled < ALMOST_EMPTY * rows:
            return Guess(name, "almost-empty")
        if _are_alike(column):
            return Guess(name, "category" if column.null_count else "constant")
        sample = _spread(column.drop_null())
    if pa.types.is_boolean(kind):
        return Guess(name, "boolean")
    if is_time(kind):
        return Guess(name, "date")
    return (_number if is_number(kind) else _words)(name, column, sample)


def _are_alike(cells: Any) -> bool:
    """Whether all filled cells are the same (or there is none)."""
    filled = cells.drop_null()
    return len(filled) == 0 or bool(pc.all(pc.equal(filled, filled[0])).as_py())


def _spread(cells: Any) -> Any:
    step = max(1, len(cells) // SAMPLE)
    return cells if step == 1 else cells.take(pa.array(np.arange(0, len(cells), step)))


def _number(name: str, cells: Any, sample: Any) -> Guess:
    limits = pc.min_max(cells).as_py()
    low, high = float(limits["min"]), float(limits["max"])
    values = as_numpy(sample)
    values = values[~np.isnan(values)]
    is_sparse = low >= 0 and values.size > 0 and bool(np.mean(values == 0) >= MOSTLY_ZERO)
    if low >= 0 and high <= 1 and np.isin(values, (0.0, 1.0)).all() and _all_zero_or_one(cells):
        return Guess(name, "boolean", is_sparse)
    if _are_times(name, low, high) or are_days(values):
        return Guess(name, "date")
    if is_id(name, values, cells, low, high):
        return Guess(name, "id")
    return Guess(name, "number", is_sparse)


def _are_times(name: str, low: float, high: float) -> bool:
    """Whether numbers are seconds, milli-, micro- or nanoseconds since 1970, and called so."""
    if not _TIME_NAME.fullmatch(name.strip()) or low < _EPOCHS[0]:
        return False
    return any(
        _EPOCHS[0] * unit <= low and high <= _EPOCHS[1] * unit for unit in (1, 1e3, 1e6, 1e9)
    )


def _are_codes(sample: Any) -> bool:
    """Whether cells are codes of digits: all as long, and some begin with a zero."""
    if not pc.all(pc.match_substring_regex(sample, _CODE)).as_py():
        return False
    lengths = pc.min_max(pc.utf8_length(sample)).as_py()
    return lengths["min"] == lengths["max"] and bool(pc.any(pc.starts_with(sample, "0")).as_py())


def _all_zero_or_one(cells: Any) -> bool:
    if pa.types.is_integer(cells.type):
        return True  # between 0 and 1
    values = as_numpy(cells)
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def is_id(name: str, sample: NDArray[np.float64], cells: Any, low: float, high: float) -> bool:
    """Whether numbers are ids: whole, never repeated, and consecutive, ascending or called so."""
    rows = len(cells)
    if rows < ENOUGH_ROWS or cells.null_count or (sample != np.floor(sample)).any():
        return False
    if np.unique(sample).size != sample.size:
        return False
    is_consecutive = high - low + 1 == rows
    is_ascending = bool((np.diff(sample) > 0).all())
    if not (is_consecutive or is_ascending or _ID_NAME.fullmatch(name)):
        return False
    return int(pc.count_distinct(cells).as_py()) == rows


def _words(name: str, cells: Any, sample: Any) -> Guess:
    sample = sample.combine_chunks().drop_null()
    distinct = sample.unique()
    folded = set(pc.utf8_lower(distinct).to_pylist())
    is_pair = any(
        folded <= {yes, no} for yes, no in zip(TRUE[1:], FALSE[1:], strict=True)
    ) or folded <= {"0", "1"}
    if is_pair:
        return Guess(name, "boolean")
    if _are_codes(sample):  # zip codes are no numbers
        seldom = len(distinct) / len(sample) >= NEVER_REPEAT and len(sample) >= ENOUGH_ROWS
        return Guess(name, "id" if seldom else "category")
    if _share(sample, _LIST) >= MOSTLY:
        seldom = len(distinct) / len(sample) >= SELDOM_REPEAT and len(sample) >= ENOUGH_ROWS
        return Guess(name, "text" if seldom else "category")
    if _are_numbers_and_few_words(sample):
        return _number_in_words(name, cells)
    if _share(sample, _LIKE_A_NUMBER) >= MOSTLY:
        number_share = decimal_of(pa.chunked_array([sample]))[1]
        if number_share >= ALMOST_ALL or (number_share >= MOSTLY and len(distinct) > FEW_NUMBERS):
            return _number_in_words(name, cells)
        if formats_of(sample[:DATES])[1] >= MOSTLY:
            return Guess(name, "date")
    repeats = len(distinct) / len(sample)
    words = float(pc.mean(_word_counts(distinct)).as_py())
    has_letters = _share(distinct, r"\pL") > 0.5
    is_long = words >= TEXT_WORDS and has_letters  # a phone number is no text
    if is_long and repeats >= SELDOM_REPEAT and len(sample) >= ENOUGH_ROWS:
        return Guess(name, "text")
    if repeats >= NEVER_REPEAT and len(sample) >= ENOUGH_ROWS:
        return Guess(name, "id")
    return Guess(name, "category")


def _share(cells: Any, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(cells, pattern).cast(pa.int8())).as_py())


def _are_numbers_and_few_words(sample: Any) -> bool:
    """Whether at least half of the cells are many different numbers, and the others a few words."""
    values, counts = sample.value_counts().flatten()
    numbers, _ = numbers_of(pa.chunked_array([values]), decimal_of(values)[0])
    is_word = np.isnan(numbers)
    if not 0 < np.count_nonzero(is_word) <= FEW_WORDS or np.count_nonzero(~is_word) <= FEW_NUMBERS:
        return False
    return bool(counts.to_numpy()[is_word].sum() <= len(sample) / 2)


def _number_in_words(name: str, cells: Any) -> Guess:
    """Guess the kind of numbers that came as text, by what they are as numbers."""
    values, _ = numbers_of(cells, decimal_of(_spread(cells))[0])
    numbers = pa.chunked_array([pa.array(values, from_pandas=True)])
    if _are_alike(numbers):  # the words among them make the difference
        return Guess(name, "number")
    return _number(name, numbers, _spread(numbers))


def _word_counts(cells: Any) -> Any:
    return pc.add(pc.count_substring_regex(cells, r"\S\s+\S"), 1)
