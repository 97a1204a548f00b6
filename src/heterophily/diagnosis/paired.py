"""Two classifiers on the same nodes: how much better is one, between which limits, by chance?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from heterophily.errors import lookup

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

LEVEL = 0.95
SIGNIFICANT = 0.05
SMALL = 0.01
"""A difference below one point (of accuracy, or of ROC AUC times 100) never decides a verdict."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first of two is, with limits of 95 % and a two-sided p-value.

    All are fractions: 0.01 is one point of accuracy, or of ROC AUC times 100.
    """

    value: float
    low: float
    high: float
    p_value: float

    @property
    def is_better(self) -> bool:
        """Whether the first is better: by one point or more, and not by chance (p < 0.05)."""
        return self.value >= SMALL and self.p_value < SIGNIFICANT

    @property
    def is_worse(self) -> bool:
        """Whether the first is worse: by one point or more, and not by chance (p < 0.05)."""
        return self.value <= -SMALL and self.p_value < SIGNIFICANT

    def among(self, count: int) -> Difference:
        """Return the same with the p-value and limits for the best of ``count`` (Bonferroni)."""
        if count <= 1:
            return self
        widen = stats.norm.ppf(0.5 + 0.5 * (1 - (1 - LEVEL) / count)) / stats.norm.ppf(
            0.5 + 0.5 * LEVEL
        )
        return Difference(
            self.value,
            self.value - widen * (self.value - self.low),
            self.value + widen * (self.high - self.value),
            min(1.0, count * self.p_value),
        )

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return {
            "difference": self.value,
            "interval": [self.low, self.high],  # type: ignore[dict-item]
            "p_value": self.p_value,
        }


@dataclass(frozen=True, eq=False)
class NodeScores:
    """What each node adds to a score: the score is the mean of the values of its first group.

    ``groups`` are disjoint sets of nodes; the sampling variance of the score is the sum over
    groups of ``weight² x variance / size``.
    """

    values: Floats  # (n,), NaN where a node was not scored
    groups: tuple[tuple[Nodes, float], ...]  # nodes, weight
    is_sum: bool = True  # the score is the weighted sum over groups; else the first group's mean

    @property
    def mean(self) -> float:
        """The score."""
        return _total(self.values, self.groups, self.is_sum)


def _total(values: Floats, groups: tuple[tuple[Nodes, float], ...], is_sum: bool) -> float:
    means = [(weight, values[nodes]) for nodes, weight in groups]
    shown = [w * float(np.nanmean(v)) for w, v in means if np.isfinite(v).any()]
    return (sum(shown) if is_sum else shown[0]) if shown else float("nan")


def _accuracy(labels: Nodes, scores: Floats, fold: Nodes) -> NodeScores:
    right = (scores.argmax(axis=1) == labels).astype(np.float64)
    right[~np.isfinite(scores).all(axis=1)] = np.nan
    return NodeScores(right, ((np.arange(labels.size), 1.0),))


def _balanced(labels: Nodes, scores: Floats, fold: Nodes) -> NodeScores:
    right = _accuracy(labels, scores, fold).values
    classes = np.unique(labels)
    groups = tuple((np.flatnonzero(labels == k), 1.0 / classes.size) for k in classes)
    return NodeScores(right, groups)


def _area(labels: Nodes, scores: Floats, fold: Nodes) -> NodeScores:
    """Area under the ROC curve of class 1, fold by fold, as placements (DeLong et al. 1988).

    The placement of a node is the share of nodes of the other class in its fold that it is ranked
    right against; a tie counts one half.
    """
    margin = scores[:, 1] - scores[:, 0]
    values = np.full(labels.size, np.nan)
    for number in np.unique(fold):
        rows = np.flatnonzero((fold == number) & np.isfinite(margin))
        positive, negative = rows[labels[rows] == 1], rows[labels[rows] == 0]
        if not (positive.size and negative.size):
            continue
        for mine, others, sign in ((positive, negative, 1.0), (negative, positive, -1.0)):
            ordered = np.sort(sign * margin[others])
            below = np.searchsorted(ordered, sign * margin[mine], side="left")
            upto = np.searchsorted(ordered, sign * margin[mine], side="right")
            values[mine] = (below + upto) / (2 * others.size)
    groups = ((np.flatnonzero(labels == 1), 1.0), (np.flatnonzero(labels == 0), 1.0))
    return NodeScores(values, groups, is_sum=False)


NODE_SCORES: Mapping[str, Callable[[Nodes, Floats, Nodes], NodeScores]] = {
    "accuracy": _accuracy,
    "balanced-accuracy": _balanced,
    "roc-auc": _area,
}


def node_scores(score: str, labels: Nodes, scores: Floats, fold: Nodes) -> NodeScores:
    """Score the held-out predictions (n, C) of a cross-validation, node by node.

    >>> scores = np.array([[2.0, 1.0], [2.0, 1.0]])
    >>> node_scores("accuracy", np.array([0, 1]), scores, np.zeros(2, np.int64)).mean
    0.5
    """
    return lookup(NODE_SCORES, "score", score)(labels, scores, fold)


def difference(first: NodeScores, second: NodeScores, *, folds: int) -> Difference:
    r"""Compare two cross-validated classifiers on the nodes that both have scored.

    The variance is that of the differences node by node, times :math:`1 + k / (k - 1)` for k
    folds: training sets of different folds overlap, so folds are not independent (Nadeau and
    Bengio 2003, with their variance over folds estimated from the nodes). Differences that are the
    same for all n nodes get the variance of one node that differs by 1. Degrees of freedom are
    those of Welch and Satterthwaite, so that a rare class counts with its few nodes.
    """
    gap = first.values - second.values
    value = _total(gap, first.groups, first.is_sum)
    parts, sizes = [], []
    for nodes, weight in first.groups:
        found = gap[nodes][np.isfinite(gap[nodes])]
        if found.size:
            parts.append(weight**2 * max(float(found.var()), 1.0 / found.size) / found.size)
            sizes.append(max(found.size - 1, 1))
    if not parts:
        return Difference(0.0, -1.0, 1.0, 1.0)  # nothing was scored: nothing is known
    variance = np.array(parts)
    error = float(np.sqrt((1.0 + folds / (folds - 1)) * variance.sum()))
    freedom = float(variance.sum() ** 2 / (variance**2 / sizes).sum())
    reach = float(stats.t.ppf(0.5 + 0.5 * LEVEL, freedom)) * error
    p_value = float(2.0 * stats.t.sf(abs(value) / error, freedom))
    return Difference(value, value - reach, value + reach, p_value)


def average(many: list[NodeScores]) -> NodeScores:
    """Return the mean over repeats of the cross-validation, node by node, of those that scored."""
    values = np.array([one.values for one in many])
    scored = np.isfinite(values)
    count = scored.sum(axis=0)
    total = np.where(scored, values, 0.0).sum(axis=0)
    mean = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return NodeScores(mean, many[0].groups, many[0].is_sum)
