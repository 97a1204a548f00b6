"""How nearly monotonic a curve is: the claim of Figure 2 as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """Rank correlation of accuracy with a metric, and the pairs in the wrong order.

    A pair of levels is a violation when the higher metric goes with the lower accuracy. Pairs
    with equal metrics cannot be in the wrong order and are not counted in ``pairs``.
    """

    spearman: float  # nan when the metric or the accuracy is constant
    violations: int
    pairs: int

    def __str__(self) -> str:
        """Return one short line."""
        return (
            f"Spearman {self.spearman:+.2f}, {self.violations} of {self.pairs} pairs out of order"
        )


def monotonicity(metric: Sequence[float], accuracy: Sequence[float]) -> Monotonicity:
    """Measure whether accuracy rises with a metric.

    >>> print(monotonicity([0.1, 0.5, 0.9], [0.8, 0.5, 0.9]))
    Spearman +0.50, 1 of 3 pairs out of order
    """
    x, y = np.asarray(metric, np.float64), np.asarray(accuracy, np.float64)
    first, second = np.triu_indices(x.size, k=1)
    rise_x, rise_y = x[second] - x[first], y[second] - y[first]
    is_constant = x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0
    return Monotonicity(
        spearman=float("nan") if is_constant else float(stats.spearmanr(x, y).statistic),
        violations=int(np.count_nonzero(rise_x * rise_y < 0)),
        pairs=int(np.count_nonzero(rise_x)),
    )
