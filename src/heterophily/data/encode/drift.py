"""How the columns of a new table differ from those that the encoder learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
"""Difference in the share of missing cells, or of yes, from which a column is named.

To each limit two standard errors are added: a small table differs by chance.
"""

ENOUGH = 30
"""Rows below which medians and shares say nothing."""

_MEDIAN_ERROR = 1.25  # standard error of a median, in deviations over the root of the rows


@dataclass(frozen=True, slots=True)
class Drift:
    """One way in which a column looks different: what, before and now."""

    column: str
    kind: str  # "absent", "unseen levels", "shifted", "outside", "missing", "yes"
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
        if self.kind == "yes":
            shares = f"{self.now:.0%} of the cells are yes, {self.before:.0%} in training"
            return f"column {name}: {shares}"
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
            if unseen > UNSEEN + 1 - column.known + _chance(1 - column.known, filled.sum()):
                found.append(Drift(column.name, "unseen levels", 1 - column.known, unseen))
    elif isinstance(column, TextColumn):
        missing = np.mean(np.diff(cells.indptr) == 0)
    else:
        assert isinstance(column, NumberColumn | DateColumn)
        values = column.values(cells) / (86400 if isinstance(column, DateColumn) else 1)
        missing = np.isnan(values).mean()
        present = values[~np.isnan(values)]
        if isinstance(column, NumberColumn) and column.kind == "boolean":
            found += _share_drift(column, present)
        elif present.size:
            found += _value_drift(column, present)
    before = column.missing
    if abs(float(missing) - before) > MORE_MISSING + _chance(before, len(given)):
        found.append(Drift(column.name, "missing", before, float(missing)))
    return found


def _chance(share: float, rows: int) -> float:
    """Return two standard errors of a share among so many rows: what chance alone may do."""
    share = min(max(share, UNSEEN), 1 - UNSEEN)
    return 2 * float(np.sqrt(share * (1 - share) / rows))


def _share_drift(column: NumberColumn, present: NDArray[np.float64]) -> list[Drift]:
    """Compare how many are yes; an encoder that did not learn it has a median, 0 or 1."""
    if not present.size or not 0 < column.center < 1:
        return []
    share = float(present.mean())
    is_other = abs(share - column.center) > MORE_MISSING + _chance(column.center, present.size)
    return [Drift(column.name, "yes", column.center, share)] if is_other else []


def _value_drift(column: NumberColumn | DateColumn, present: NDArray[np.float64]) -> list[Drift]:
    """Compare medians, and how many values lie where training had none."""
    distance = abs(Scale(column.center, column.spread).distance(present))
    if distance > SHIFT + 2 * _MEDIAN_ERROR / np.sqrt(present.size):
        median, is_date = float(np.median(present)), isinstance(column, DateColumn)
        return [Drift(column.name, "shifted", column.center, median, is_date)]
    outside = float(np.mean((present < column.low) | (present > column.high)))
    if outside > UNSEEN + _chance(0.0, present.size):
        return [Drift(column.name, "outside", 0.0, outside)]
    return []
