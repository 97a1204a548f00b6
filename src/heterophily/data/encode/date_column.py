"""Columns of dates: elapsed time, year, and month, weekday and hour as circles."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heterophily.data.encode.blocks import ColumnBlock, Values
from heterophily.data.encode.cells import Strange, is_text, plain
from heterophily.data.encode.column import MISSING_NAME, indicator, sample_of
from heterophily.data.encode.dates import formats_of, seconds_of
from heterophily.data.encode.scaling import Scale

_DAY = 86400.0
Calendar = dict[str, NDArray[np.float64]]
_CYCLES = {"month": 12, "weekday": 7, "hour": 24}
PARTS = ("year", *_CYCLES)
"""Parts of a point in time, in the order of their features."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points in time (seconds since 1970, NaN for none): each day once where there are few days.

    ``seconds`` (K,) are worked on, ``spread`` brings the results to the rows (N,).
    """

    seconds: NDArray[np.float64]
    places: NDArray[np.int32] | None = None  # of each row among the seconds; None: as they are

    @classmethod
    def of(cls, seconds: NDArray[np.float64]) -> Points:
        """Return points of rows; whole days in a range shorter than the table are numbered.

        >>> Points.of(np.array([0.0, 86400.0, 0.0, np.nan])).seconds.tolist()
        [0.0, 86400.0, nan]
        """
        missing = np.isnan(seconds)
        days = seconds / _DAY
        present = days[~missing] if missing.any() else days
        if not present.size or (np.floor(present) != present).any():
            return cls(seconds)
        low, high = float(present.min()), float(present.max())
        size = high - low + 1
        if size >= seconds.size:
            return cls(seconds)
        places = np.where(missing, size, days - low).astype(np.int32)
        return cls(np.append(np.arange(low, high + 1) * _DAY, np.nan), places)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the points (K,) by row (N,)."""
        return values if self.places is None else values[self.places]


@dataclass(frozen=True, slots=True)
class DateColumn:
    """A point in time: days since 1970 and the year, scaled; month, weekday and hour as circles.

    Parts that did not vary in training are left out. A circle has two features, sine and cosine, so
    that December is next to January.
    """

    name: str
    formats: tuple[str, ...]
    center: float
    spread: float
    year_center: float
    year_spread: float
    parts: tuple[str, ...]
    missing: float
    low: float
    high: float
    kind: ClassVar[str] = "date"

    @classmethod
    def learn(cls, name: str, kind: str, column: Any) -> tuple[DateColumn, Any, Strange]:
        """Return the fitted column, its cells, and those that do not fit."""
        column = plain(column)
        formats: tuple[str, ...] = ()
        if is_text(column.type):
            formats = formats_of(sample_of(column))[0]
        values, strange = seconds_of(column, formats)
        missing = np.isnan(values)
        days = Scale.fit(values / _DAY)
        points = Points.of(values)
        calendar = _calendar(points.seconds)
        by_row = {part: points.spread(numbers) for part, numbers in calendar.items()}
        years = Scale.fit(by_row["year"])
        parts = tuple(part for part, numbers in by_row.items() if _varies(numbers))
        present = values[~missing] / _DAY
        low, high = (float(present.min()), float(present.max())) if present.size else (0.0, 0.0)
        fitted = cls(
            name, formats, days.center, days.spread, years.center, years.spread, parts,
            float(missing.mean()), low, high,
        )  # fmt: skip
        return fitted, (points, calendar), strange

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Elapsed time, the parts, and whether the cell was missing."""
        names = [f"{self.name}: elapsed"]
        for part in self.parts:
            names += (
                [f"{self.name}: {part}"]
                if part == "year"
                else [f"{self.name}: {part} {function}" for function in ("sine", "cosine")]
            )
        return (*names, *([f"{self.name}: {MISSING_NAME}"] if self.missing > 0 else []))

    def parse(self, column: Any) -> tuple[tuple[Points, Calendar], Strange]:
        """Return points in time, NaN where a cell is missing or no date, and their parts."""
        values, strange = seconds_of(column, self.formats)
        points = Points.of(values)
        return (points, _calendar(points.seconds)), strange

    def encode(self, cells: tuple[Points, Calendar]) -> list[ColumnBlock]:
        """Return elapsed time, the parts, and whether the cell was missing."""
        points, calendar = cells
        missing = np.isnan(points.seconds)
        elapsed = Scale(self.center, self.spread).apply(points.seconds / _DAY)
        blocks: list[ColumnBlock] = [Values(points.spread(elapsed))]
        for part in self.parts:
            numbers = calendar[part]
            if part == "year":
                scaled = Scale(self.year_center, self.year_spread).apply(numbers)
                blocks.append(Values(points.spread(scaled)))
                continue
            angle = (numbers * (2 * math.pi / _CYCLES[part])).astype(np.float32)
            for function in (np.sin, np.cos):
                circle = function(angle)
                circle[missing] = 0
                blocks.append(Values(points.spread(circle)))
        return blocks + ([indicator(points.spread(missing))] if self.missing > 0 else [])

    def values(self, cells: Any) -> Any:
        """Return the cells to compare them with the label."""
        points: Points = cells[0]
        return points.spread(points.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            **asdict(self),
            "kind": self.kind,
            "formats": list(self.formats),
            "parts": list(self.parts),
        }


def _varies(numbers: NDArray[np.float64]) -> bool:
    present = numbers[~np.isnan(numbers)]
    return bool(present.size and present.min() != present.max())


def _calendar(seconds: NDArray[np.float64]) -> Calendar:
    """Return year, month (0-11), weekday (0-6) and hour (0-23.99) of points in time, NaN kept."""
    missing = np.isnan(seconds)
    whole = np.clip(np.where(missing, 0, seconds), -(2.0**40), 2.0**40)
    days = np.floor(whole / _DAY)
    months = days.astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    years = months // 12
    parts = {
        "year": 1970.0 + years,
        "month": (months - 12 * years).astype(np.float64),
        "weekday": (days + 3) % 7,  # the first of January 1970 was a Thursday
        "hour": (whole - days * _DAY) / 3600,
    }
    if missing.any():
        for values in parts.values():
            values[missing] = np.nan
    return parts
