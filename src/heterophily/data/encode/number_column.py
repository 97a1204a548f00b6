"""Columns of numbers: scaled, or left as they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.encode.blocks import ColumnBlock, Values
from heterophily.data.encode.cells import Strange, is_text, plain
from heterophily.data.encode.column import MISSING_NAME, indicator
from heterophily.data.encode.numerals import Decimal, booleans_of, decimal_of, numbers_of
from heterophily.data.encode.scaling import Scale


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A number, a count, a truth value, or a number that is left as it is (``raw``).

    Numbers are scaled (see :class:`Scale`), the others stay as they are. A missing cell becomes 0,
    which for scaled numbers is the median; where some were missing in training, a second feature
    says so.
    """

    name: str
    kind: str
    decimal: Decimal
    center: float  # of truth values the share of yes
    spread: float
    missing: float  # share of missing cells in training
    low: float
    high: float

    @staticmethod
    def read(column: Any, kind: str, decimal: Decimal) -> tuple[NDArray[np.float64], Strange]:
        """Return numbers, NaN where a cell is missing or none."""
        return booleans_of(column) if kind == "boolean" else numbers_of(column, decimal)

    @classmethod
    def learn(cls, name: str, kind: str, column: Any) -> tuple[NumberColumn, Any, Strange]:
        """Return the fitted column, its cells, and those that do not fit."""
        column = plain(column)
        decimal: Decimal = decimal_of(column)[0] if is_text(column.type) else "."
        values, strange = cls.read(column, kind, decimal)
        missing = np.isnan(values)
        present = values[~missing] if missing.any() else values
        scale = _share_of_yes(present) if kind == "boolean" else Scale.fit(values)
        low, high = (float(present.min()), float(present.max())) if present.size else (0.0, 0.0)
        fitted = cls(
            name, kind, decimal, scale.center, scale.spread, float(missing.mean()), low, high
        )
        return fitted, values, strange

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The column, and whether it was missing."""
        return (self.name, *([f"{self.name}: {MISSING_NAME}"] if self.missing > 0 else []))

    def parse(self, column: Any) -> tuple[NDArray[np.float64], Strange]:
        """Return numbers, NaN where a cell is missing or none."""
        return self.read(column, self.kind, self.decimal)

    def encode(self, cells: NDArray[np.float64]) -> list[ColumnBlock]:
        """Return the column, and whether it was missing."""
        missing = np.isnan(cells)
        values: NDArray[Any]
        if self.kind == "number":
            values = Scale(self.center, self.spread).apply(cells)
        else:
            values = np.where(missing, 0.0, cells) if missing.any() else cells
        blocks: list[ColumnBlock] = [Values(values)]
        return blocks + ([indicator(missing)] if self.missing > 0 else [])

    def values(self, cells: Any) -> Any:
        """Return the cells to compare them with the label."""
        return cells

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def _share_of_yes(present: NDArray[np.float64]) -> Scale:
    """Return the mean of truth values: a median would be one of them."""
    return Scale(float(present.mean()) if present.size else 0.0, 1.0)
