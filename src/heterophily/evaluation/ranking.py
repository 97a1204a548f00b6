"""How a class is ranked by its probabilities: the two areas that summarise it.

The numbers are those of scikit-learn, bit for bit (a test compares them). Its functions check their
arguments anew in each call, which for the few nodes of a small graph costs fifty times the sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Counts = NDArray[np.float64]


def counts_above(is_class: NDArray[np.bool_], score: NDArray[np.floating]) -> tuple[Counts, Counts]:
    """Return, for each distinct score from high to low, nodes outside and inside at or above it.

    >>> outside, inside = counts_above(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    >>> outside.tolist(), inside.tolist()
    ([0.0, 1.0], [1.0, 2.0])
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), order.size - 1)
    inside = np.cumsum(is_class[order], dtype=np.float64)[last]
    return 1 + last - inside, inside


def area_under_roc(is_class: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Return the area under the ROC curve of a class; nodes of it and others must occur."""
    outside, inside = counts_above(is_class, score)
    is_corner = np.ones(inside.size, np.bool_)
    if inside.size > 2:  # points on a straight line are left out: fewer roundings
        is_corner[1:-1] = (np.diff(outside, 2) != 0) | (np.diff(inside, 2) != 0)
    x, y = (np.append(0.0, part[is_corner]) for part in (outside, inside))
    return float(np.trapezoid(y / y[-1], x / x[-1]))


def share_ranked_right(is_class: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Return the same area as a share of pairs: a node of the class above one outside it.

    The pairs are counted exactly and divided once, so that any program finds the same number.

    >>> share_ranked_right(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    inside = int(is_class.sum())
    outside = is_class.size - inside
    above = float(rankdata(score)[is_class].sum()) - inside * (inside + 1) / 2
    return above / (float(inside) * float(outside))


def mean_precision(is_class: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Return the average precision of a class; nodes of it must occur."""
    outside, inside = counts_above(is_class, score)
    precision = np.append((inside / (inside + outside))[::-1], 1.0)
    recall = np.append((inside / inside[-1])[::-1], 0.0)
    return max(0.0, float(-np.sum(np.diff(recall) * precision[:-1])))
