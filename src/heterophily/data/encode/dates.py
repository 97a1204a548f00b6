"""Points in time, as people write them, to seconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.encode.cells import (
    Strange,
    as_numpy,
    is_number,
    is_text,
    is_time,
    plain,
    strange_cells,
    without_missing,
)

FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y",
    "%m-%d-%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d.%m.%y", "%m/%d/%y",
    "%d/%m/%y", "%Y-%m", "%Y%m%d", "%d/%b/%Y", "%d/%b/%y", "%d-%b-%y", "%H:%M:%S",
)  # fmt: skip
"""Ways of writing a day that are tried, each with and without a time of day behind it; or a time.

A time of day alone is one of the same day for all rows.
"""

RIVALS = (
    ("%m/%d/%Y", "%d/%m/%Y"),
    ("%m-%d-%Y", "%d-%m-%Y"),
    ("%m/%d/%y", "%d/%m/%y"),
)
"""Pairs of formats of which a column uses one: the one that fits more cells, else the first."""

YEARS = (1000, 2999)
"""Years outside of this range are no dates (a year written with two digits, mostly)."""

_MANY = 2  # cells that a further format must add to be used
_TIME = (
    r"(?i)^(?P<day>.*?)(?:[t ]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})"
    r"(?:[.,]\d+)?)?\s*(?P<half>[ap]m)?\s*"
    r"(?:z|utc|gmt|(?P<sign>[+-])(?P<zone_hour>\d{2}):?(?P<zone_minute>\d{2}))?)?$"
)
_TIME_OF_DAY = "%H:%M:%S"
_CLOCK = r"^\d{1,2}:\d{2}(:\d{2})?$"
_PARTS = {
    "%Y": "year", "%y": "year", "%m": "month", "%b": "month", "%d": "day", "%H": "hour",
    "%M": "minute", "%S": "second",
}  # fmt: skip
_DAYS_FROM, _DAYS_TO = 19_000_101, 21_001_231
_MOSTLY = 0.8  # share of whole numbers that must be days of the calendar for all to be
_SECONDS_FROM = 1e11  # larger whole numbers are milliseconds, then micro-, then nanoseconds


def seconds_of(column: Any, formats: Sequence[str]) -> tuple[NDArray[np.float64], Strange]:
    """Return a column as seconds since 1970, NaN where a cell is missing or no date.

    Times with an offset (+02:00) are those of UTC. Whole numbers are years (1000 to 2199), days
    such as 20240131, or seconds, milli-, micro- or nanoseconds since 1970, by their size.

    >>> cells = pa.array(["1970-01-02", "3.1.1970", "soon", "1970-01-01 00:01"])
    >>> values, strange = seconds_of(cells, ["%Y-%m-%d", "%d.%m.%Y"])
    >>> values.tolist(), strange.texts
    ([86400.0, 172800.0, nan, 60.0], ('soon',))
    """
    column = plain(column)
    if is_time(column.type):
        return as_numpy(column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())), Strange()
    if is_number(column.type) or pa.types.is_null(column.type):
        return _from_numbers(as_numpy(column)), Strange()
    if not is_text(column.type):
        column = column.cast(pa.string())
    given = without_missing(column)
    coded = given.combine_chunks().dictionary_encode()
    seconds = _parsed(coded.dictionary, formats)
    values = seconds.take(coded.indices)
    after = pa.chunked_array([values])
    return as_numpy(after), strange_cells(given, after)


def formats_of(words: Any) -> tuple[tuple[str, ...], float]:
    """Return the formats that an Arrow array of texts uses, most frequent first, and the share.

    The share is that of the texts which are a date in one of them.

    >>> formats_of(pa.array(["2021-03-04", "2021-03-05 10:00", "1/31/2021", "2/28/2021", "x"]))
    (('%Y-%m-%d', '%m/%d/%Y'), 0.8)
    """
    if not len(words):
        return (), 0.0
    fits = {name: pc.is_valid(_parsed(words, [name])).to_numpy(zero_copy_only=False)
            for name in FORMATS}  # fmt: skip
    for first, second in RIVALS:
        del fits[second if fits[first].sum() >= fits[second].sum() else first]
    chosen: list[str] = []
    open_cells = np.ones(len(words), np.bool_)
    while True:
        gains = {name: int((fit & open_cells).sum()) for name, fit in fits.items()}
        best = max(gains, key=lambda name: gains[name])
        if gains[best] < (_MANY if chosen else 1):
            return tuple(chosen), float(1 - open_cells.mean())
        chosen.append(best)
        open_cells &= ~fits[best]


def spelling_remark(formats: Sequence[str]) -> str:
    """Say how dates are read where that is not plain: several spellings, or day against month.

    >>> spelling_remark(["%Y-%m-%d", "%m/%d/%Y"])
    'dates in 2 spellings, read as year-month-day, month/day/year'
    >>> spelling_remark(["%m/%d/%Y"]), spelling_remark(["%Y-%m-%d"])
    ('dates read as month/day/year', '')
    """
    told = ", ".join(_in_words(name) for name in formats)
    if len(formats) > 1:
        return f"dates in {len(formats)} spellings, read as {told}"
    return f"dates read as {told}" if any(set(formats) & set(pair) for pair in RIVALS) else ""


def _in_words(name: str) -> str:
    for mark, word in _PARTS.items():
        name = name.replace(mark, word)
    return name


def _parsed(words: Any, formats: Sequence[str]) -> Any:
    """Return texts as whole seconds since 1970 (int64), null where none of the formats fits."""
    parts = pc.extract_regex(words, _TIME)
    nothing = pa.scalar(None, pa.int64())
    if len(words) == 0:
        return pa.array([], pa.int64())
    day = pc.struct_field(parts, "day")
    days = pa.array([None] * len(words), pa.int64())
    for name in formats:
        given = _clocks(day) if name == _TIME_OF_DAY else day
        stamp = pc.strptime(given, format=name, unit="s", error_is_null=True)
        year = pc.year(stamp)
        in_range = pc.and_(pc.greater_equal(year, YEARS[0]), pc.less_equal(year, YEARS[1]))
        days = pc.coalesce(days, pc.if_else(in_range, stamp.cast(pa.int64()), nothing))
    hour = _whole(pc.struct_field(parts, "hour"))
    half = pc.utf8_lower(pc.struct_field(parts, "half"))
    hour = pc.if_else(
        pc.equal(half, "pm"),
        pc.add(pc.if_else(pc.equal(hour, 12), 0, hour), 12),
        pc.if_else(pc.and_(pc.equal(half, "am"), pc.equal(hour, 12)), 0, hour),
    )
    minutes = pc.add(pc.multiply(hour, 60), _whole(pc.struct_field(parts, "minute")))
    seconds = pc.add(pc.multiply(minutes, 60), _whole(pc.struct_field(parts, "second")))
    ahead = pc.add(
        pc.multiply(_whole(pc.struct_field(parts, "zone_hour")), 3600),
        pc.multiply(_whole(pc.struct_field(parts, "zone_minute")), 60),
    )
    ahead = pc.if_else(pc.equal(pc.struct_field(parts, "sign"), "-"), pc.negate(ahead), ahead)
    return pc.add(days, pc.subtract(seconds, ahead))


def _clocks(texts: Any) -> Any:
    """Return times of day with seconds, null where a text is none: 3:1 is no time.

    >>> _clocks(pa.array(["8:30", "08:30:15", "3:1"])).to_pylist()
    ['8:30:00', '08:30:15', None]
    """
    whole = pc.if_else(
        pc.match_substring_regex(texts, r":\d+:"),
        texts,
        pc.binary_join_element_wise(texts, "00", ":"),
    )
    is_clock = pc.match_substring_regex(texts, _CLOCK)
    return pc.if_else(is_clock, whole, pa.scalar(None, pa.string()))


def _whole(texts: Any) -> Any:
    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    return pc.fill_null(filled.cast(pa.int64()), 0)


def are_days(values: NDArray[np.float64]) -> bool:
    """Whether numbers are days written as year, month and day: 20240131.

    >>> are_days(np.array([20240131.0, 20231201.0])), are_days(np.array([20240131.0, 20241301.0]))
    (True, False)
    """
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=0.0))
    if not _DAYS_FROM <= low <= high <= _DAYS_TO:
        return False
    return bool((~np.isnan(_days_in_digits(values))).mean() >= _MOSTLY)


def _days_in_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers such as 20240131 as seconds since 1970, NaN where they are no day."""
    whole = np.where(np.isnan(values), 0, values).astype(np.int64)
    year, month, day = whole // 10_000, whole // 100 % 100, whole % 100
    months = (year - 1970) * 12 + month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (first + day <= after) & (whole == values)
    return np.where(is_day, (first + day - 1) * 86400.0, np.nan)


def _from_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    present = values[~np.isnan(values)]
    if not present.size:
        return values
    if are_days(present):
        return _days_in_digits(values)
    largest = float(np.abs(present).max())
    if largest < 2200 and present.min() >= 1000:
        years = np.where(np.isnan(values), 1970, np.floor(values)).astype(np.int64)
        days = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
        return np.where(np.isnan(values), np.nan, days * 86400.0)
    while largest > _SECONDS_FROM:
        values, largest = values / 1000, largest / 1000
    return values
