"""Many models over many datasets: ranks, rank correlations, critical differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from heterophily.errors import InputError
from heterophily.statistics.paired_tests import Floats, signed_rank


def average_ranks(means: Floats) -> Floats:
    """Return the mean rank of each row over the columns: 1 is the highest value of a column.

    Missing values (NaN) are not ranked; a row without any value has rank NaN.

    >>> average_ranks(np.array([[0.9, 0.8], [0.7, 0.9], [0.7, np.nan]])).tolist()
    [1.5, 1.75, 2.5]
    """
    ranks = np.full(means.shape, np.nan)
    for column in range(means.shape[1]):
        known = ~np.isnan(means[:, column])
        if known.any():
            ranks[known, column] = stats.rankdata(-np.round(means[known, column], 12))
    counts = (~np.isnan(ranks)).sum(axis=1)
    mean = np.full(len(ranks), np.nan)
    np.divide(np.nansum(ranks, axis=1), counts, out=mean, where=counts > 0)
    return mean


def rank_correlations(ours: Floats, theirs: Floats) -> list[float | None]:
    """Return Spearman's correlation of the model orders (rows) in each dataset (column).

    Only cells with both values count; None where fewer than three have both, or all are equal.

    >>> a = np.array([[0.9, 0.9], [0.8, 0.8], [0.7, np.nan]])
    >>> rank_correlations(a, -a)
    [-1.0, None]
    """
    found: list[float | None] = []
    for column in range(ours.shape[1]):
        both = ~np.isnan(ours[:, column]) & ~np.isnan(theirs[:, column])
        a, b = (np.round(values[both, column], 12) for values in (ours, theirs))
        is_defined = both.sum() >= 3 and np.ptp(a) > 0 and np.ptp(b) > 0
        found.append(round(float(stats.spearmanr(a, b).statistic), 12) if is_defined else None)
    return found


@dataclass(frozen=True)
class CriticalDifference:
    """The data of a critical-difference diagram (Demsar 2006).

    ``ranks`` is sorted, best first; two models whose ranks differ by less than ``difference`` are
    not distinguishable; ``groups`` are the bars of the diagram. ``p_value`` is Friedman's,
    or that of the signed-rank test when there are two models.
    """

    ranks: Mapping[str, float]
    difference: float
    groups: tuple[tuple[str, ...], ...]
    p_value: float
    datasets: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "ranks": dict(self.ranks),
            "difference": self.difference,
            "groups": [list(group) for group in self.groups],
            "p_value": self.p_value,
            "datasets": self.datasets,
        }


def critical_difference(
    names: Sequence[str], means: Floats, *, level: float = 0.05
) -> CriticalDifference:
    r"""Compare many models over many datasets: Friedman's test, then Nemenyi's.

    .. math:: CD = q_\alpha \sqrt{k (k + 1) / (6 N)}

    for k models on N datasets. Datasets where a model has no value are left out.

    Parameters
    ----------
    names
        The models.
    means
        (k, N) mean accuracies, NaN where there is none.
    """
    complete = means[:, ~np.isnan(means).any(axis=0)]
    count, datasets = complete.shape
    if count < 2 or datasets < 2:
        raise InputError(
            f"a critical difference needs at least two models on two common datasets, got "
            f"{count} and {datasets}"
        )
    ranks = average_ranks(complete)
    quantile = stats.studentized_range.ppf(1 - level, count, np.inf) / math.sqrt(2)
    difference = float(quantile * math.sqrt(count * (count + 1) / (6 * datasets)))
    order = np.argsort(ranks, kind="stable")
    ordered = {names[i]: float(ranks[i]) for i in order}
    return CriticalDifference(
        ordered, difference, _groups(ordered, difference), _friedman(complete), datasets
    )


def _friedman(values: Floats) -> float:
    """Return the p-value of Friedman's test; of two models that of the signed-rank test."""
    rounded = np.round(values, 12)
    if len(values) == 2:
        return signed_rank(rounded[0] - rounded[1])
    if np.ptp(rounded, axis=0).max() == 0:  # every dataset ties all models
        return 1.0
    return float(stats.friedmanchisquare(*rounded).pvalue)


def _groups(ranks: Mapping[str, float], difference: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of neighbours whose ranks lie within the difference."""
    names, values = list(ranks), list(ranks.values())
    groups: list[tuple[str, ...]] = []
    reached = 0
    for start, value in enumerate(values):
        end = max(i for i, other in enumerate(values) if other - value < difference) + 1
        if end > reached and end - start > 1:
            groups.append(tuple(names[start:end]))
            reached = end
    return tuple(groups)
