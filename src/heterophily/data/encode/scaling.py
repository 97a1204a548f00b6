"""Numbers on a common scale that outliers cannot stretch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IQR_OF_NORMAL = 1.349
"""Distance of the quartiles of a standard normal distribution."""

LIMIT = 3.0
"""No scaled number is farther from 0: large ones are bent towards it, their order is kept."""

_FARTHEST = 1e6  # beyond this all are the limit, and squares cannot overflow


def _quartiles(ordered: NDArray[np.float64]) -> list[float]:
    """Return the quartiles of sorted numbers, as ``np.percentile`` does (which does not sort).

    >>> _quartiles(np.array([1.0, 2.0, 4.0]))
    [1.5, 2.0, 3.0]
    """
    places = np.array([0.25, 0.5, 0.75]) * (ordered.size - 1)
    below = np.floor(places).astype(np.int64)
    first, second = ordered[below], ordered[np.minimum(below + 1, ordered.size - 1)]
    share = places - below
    step = second - first
    found = np.where(share < 0.5, first + step * share, second - step * (1 - share))
    return [float(value) for value in found]


@dataclass(frozen=True, slots=True)
class Scale:
    r"""Median and spread of a column; :meth:`apply` centres, divides and bends.

    .. math:: z = (x - \text{median}) \cdot 1.349 / \text{IQR}, \qquad z / \sqrt{1 + (z / 3)^2}

    Quartiles instead of moments, and the smooth limit, are the preprocessing of RealMLP
    (Holzmüller et al., 2024). Where both quartiles are equal the standard deviation takes their
    place.

    >>> Scale.fit(np.array([1.0, 2.0, 3.0, np.nan]))
    Scale(center=2.0, spread=0.7412898443291327)
    """

    center: float
    spread: float

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Scale:
        """Measure the values that are not NaN."""
        present = values[~np.isnan(values)]
        if not present.size:
            return cls(0.0, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            low, center, high = _quartiles(np.sort(present))
            spread = float(high / IQR_OF_NORMAL - low / IQR_OF_NORMAL)
            if not spread > 0:
                spread = float(present.std())
        center = float(center) if np.isfinite(center) else 0.0
        if not np.isfinite(spread):
            spread = float(np.finfo(np.float64).max)
        return cls(center, spread if spread > np.finfo(np.float64).tiny else 1.0)

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return scaled numbers; NaN becomes 0, the place of the median."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = (values - self.center) / self.spread
        z = np.nan_to_num(np.clip(z, -_FARTHEST, _FARTHEST), copy=False)
        z /= np.sqrt(1 + np.square(z / LIMIT))
        return z.astype(np.float32)

    def distance(self, values: NDArray[np.float64]) -> float:
        """Return how far the median of other values lies from this one's, in spreads."""
        present = values[~np.isnan(values)]
        if not present.size:
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.nan_to_num((np.median(present) - self.center) / self.spread))
