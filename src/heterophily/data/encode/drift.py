"""How the columns of a new table differ from those that the encoder learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterophily.data.encode.category_column import CategoryColumn
from heterophily.data.encode.column import Column
from heterophily.data.encode.date_column import DateColumn
from heterophily.data.encode.number_column import NumberColumn
from heterophily.data.encode.scaling import Scale
from heterophily.data.encode.text_column import TextColumn

UNSEEN = 0.05
"""Share of levels that training did not know from which a column is named."""

SHIFT = 0.5
"""Distance of medians, in spreads of training, from which a column is named."""

MORE_MISSING = 0.1
"""Difference in the share of missing cells from which a column is named."""

ENOUGH = 30
"""Rows below which medians and shares say nothing."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One way in which a column looks different: what, before and now."""

    column: str
    kind: str  # "absent", "unseen levels", "shifted", "outside", "missing"
    before: float
    now: float
    is_date: bool = False  # then medians are days since 1970

    @property
    def sentence(self) -> str:
        """Return the difference in words."""
        name = repr(self.column)
        if self.kind == "absent":
            return f"column {name} is not in the table: it counts as missing for every node"
        if self.kind == "unseen levels":
            return (
                f"column {name}: {self.now:.0%} of the nodes have a value that was rare or unknown "
                f"in training ({self.before:.0%} there)"
            )
        if self.kind == "missing":
            return (
                f"column {name}: {self.now:.0%} of the cells are missing, {self.before:.0%} in "
                "training"
            )
        if self.kind == "outside":
            return f"column {name}: {self.now:.0%} of the values lie outside the range of training"
        return (
            f"column {name}: the median is {self._value(self.now)}, in training "
            f"{self._value(self.before)}; that is more than half the usual spread away"
        )

    def _value(self, number: float) -> str:
        if not self.is_date:
            return f"{number:.4g}"
        return str(np.datetime64(int(np.clip(number, -(10**6), 10**6)), "D"))


def drift_of(columns: Sequence[Column], table: Mapping[str, Any]) -> tuple[Drift, ...]:
    """Compare a table with what the columns learnt; small tables are compared in columns alone."""
    found: list[Drift] = []
    for column in columns:
        given = table.get(column.name)
        if given is None:
            found.append(Drift(column.name, "absent", 0.0, 1.0))
        elif len(given) >= ENOUGH:
            found += _column_drift(column, given)
    return tuple(found)


def _column_drift(column: Column, given: Any) -> list[Drift]:
    cells, _ = column.parse(given)
    found: list[Drift] = []
    if isinstance(column, CategoryColumn):
        words, codes = cells
        levels = set(column.levels)
        known = np.array([*(word in levels for word in words), False])
        filled = codes >= 0
        missing = 1 - filled.mean()
        if filled.any():
            unseen = 1 - float(known[codes[filled]].mean())
            if unseen > UNSEEN + (1 - column.known):
                found.append(Drift(column.name, "unseen levels", 1 - column.known, unseen))
    elif isinstance(column, TextColumn):
        missing = np.mean(np.diff(cells.indptr) == 0)
    else:
        assert isinstance(column, NumberColumn | DateColumn)
        values = column.values(cells) / (86400 if isinstance(column, DateColumn) else 1)
        missing = np.isnan(values).mean()
        present = values[~np.isnan(values)]
        if present.size:
            scale = Scale(column.center, column.spread)
            outside = float(np.mean((present < column.low) | (present > column.high)))
            if abs(scale.distance(present)) > SHIFT:
                median = float(np.median(present))
                is_date = isinstance(column, DateColumn)
                found.append(Drift(column.name, "shifted", column.center, median, is_date))
            elif outside > UNSEEN:
                found.append(Drift(column.name, "outside", 0.0, outside))
    before = column.missing
    if abs(float(missing) - before) > MORE_MISSING:
        found.append(Drift(column.name, "missing", before, float(missing)))
    return found
