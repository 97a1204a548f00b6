"""Two models on the same splits: paired tests, the correction for many pairs, wins and losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from heterophily.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference of two models on equal splits.

    ``p_value`` is that of the corrected resampled t-test, ``wilcoxon`` of the signed-rank test,
    ``corrected`` of the former after Holm's correction over all pairs of the family.
    """

    first: str
    second: str
    splits: int
    difference: float
    p_value: float
    wilcoxon: float
    corrected: float = math.nan

    def is_significant(self, level: float = 0.05) -> bool:
        """Whether the corrected p-value is below the level."""
        return self.corrected < level


def paired_test(
    first: ArrayLike, second: ArrayLike, *, test_to_train: float
) -> tuple[float, float, float]:
    r"""Return mean difference, p-value of the corrected t-test, p-value of the signed-rank test.

    Accuracies on overlapping random splits are not independent, and the plain paired t-test finds
    differences that are not there. Nadeau and Bengio (2003) widen its variance:

    .. math:: t = \bar d \Big/ \sqrt{(1/R + n_\text{test}/n_\text{train})\, s_d^2}

    with R - 1 degrees of freedom. Accuracies are multiples of :math:`1/n_\text{test}`, so all
    differences may be equal; t is undefined then and the signed-rank test answers for both.

    Parameters
    ----------
    first, second
        (R,) accuracies on the same splits, in the same order.
    test_to_train
        :math:`n_\text{test}/n_\text{train}`: 1/3 for 60/20/20 splits.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"paired values need equal numbers of splits, got {a.size} and {b.size}")
    if a.size < 2:
        raise InputError("a paired test needs at least two splits")
    differences = a - b
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    by_rank = signed_rank(differences)
    if spread <= 1e-12:
        return mean, by_rank, by_rank
    t = mean / math.sqrt((1 / a.size + test_to_train) * spread**2)
    return mean, float(2 * stats.t.sf(abs(t), a.size - 1)), by_rank


def signed_rank(differences: Floats) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, exact by enumeration of sums.

    Zero differences are left out, ties share their mean rank. SciPy is exact only without ties.

    >>> round(signed_rank(np.array([0.1, 0.2, 0.3, 0.4, 0.5])), 4)
    0.0625
    """
    kept = differences[np.abs(differences) > 1e-12]
    if not kept.size:
        return 1.0
    sizes = np.round(np.abs(kept), 12)
    doubled = np.round(2 * stats.rankdata(sizes)).astype(int)  # whole numbers, ties included
    counts = np.zeros(doubled.sum() + 1)
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] = counts[rank:] + counts[: counts.size - rank]
    share = counts / counts.sum()
    positive = int(doubled[kept > 0].sum())
    lower, upper = share[: positive + 1].sum(), share[positive:].sum()
    return float(min(1.0, 2 * min(lower, upper)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down rule.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected, worst = [0.0] * len(p_values), 0.0
    for step, number in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - step) * p_values[number]))
        corrected[number] = worst
    return corrected


def all_pairs(
    values: Mapping[str, Sequence[float]], *, test_to_train: float
) -> tuple[PairedTest, ...]:
    """Test every pair of models on the same splits, with Holm's correction over the pairs."""
    names = list(values)
    found = []
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            result = paired_test(values[first], values[second], test_to_train=test_to_train)
            found.append(PairedTest(first, second, len(values[first]), *result))
    corrected = holm([test.p_value for test in found])
    return tuple(
        PairedTest(t.first, t.second, t.splits, t.difference, t.p_value, t.wilcoxon, p)
        for t, p in zip(found, corrected, strict=True)
    )


def win_tie_loss(
    families: Mapping[str, Sequence[PairedTest]], *, level: float = 0.05
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Count over datasets how often the first model wins, ties and loses against the second.

    ``families`` holds the tests of each dataset. A win is a significant positive difference.
    Both orders of a pair are in the result.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for tests in families.values():
        for test in tests:
            sign = 0
            if test.is_significant(level):
                sign = 1 if test.difference > 0 else -1
            counts.setdefault((test.first, test.second), [0, 0, 0])[1 - sign] += 1
            counts.setdefault((test.second, test.first), [0, 0, 0])[1 + sign] += 1
    return {pair: (won, tied, lost) for pair, (won, tied, lost) in counts.items()}
