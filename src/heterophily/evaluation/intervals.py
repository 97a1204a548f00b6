"""95 % intervals of scores on few test nodes, and of the difference of two models.

A score of six test nodes is uncertain even if all six are right. Every interval here is therefore
an inverted test or a posterior: it has a width also where the observed score is 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from heterophily.data.splits import Split
from heterophily.evaluation.scores import SCORES, Labels, Probabilities

LEVEL = 0.95
DRAWS = 2000
"""Draws from the posterior of a confusion matrix."""

RESAMPLES = 400
"""Resamples of the test nodes of a single split, for the difference of two models."""

LARGE = 100_000
"""Test nodes from which resamples are counted (accuracy) or smaller than the test set (others)."""

SMALLER = 20_000
"""Nodes of such a smaller resample."""

ENOUGH_SPLITS = 5
"""From so many splits on, their spread may widen the interval of a score."""

_SEED = 0  # of these draws: the same nodes give the same interval
_Z = float(stats.norm.ppf(0.5 + LEVEL / 2))


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high``."""

    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return {"low": self.low, "high": self.high, "level": LEVEL}


def wilson(share: float, count: float) -> Interval:
    r"""Return Wilson's interval of a share among ``count`` independent nodes.

    .. math:: \frac{p + z^2/2n \pm z \sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    >>> found = wilson(1.0, 6)
    >>> round(found.low, 2), found.high
    (0.61, 1.0)
    """
    part = _Z**2 / count
    middle = (share + part / 2) / (1 + part)
    width = _Z * math.sqrt(share * (1 - share) / count + part / (4 * count)) / (1 + part)
    return Interval(max(0.0, middle - width), min(1.0, middle + width))


def area_interval(area: float, positives: float, negatives: float) -> Interval:
    r"""Return the interval of an area under the ROC curve by the sizes of the two classes.

    All areas :math:`\theta` that a test with the variance of Hanley and McNeil (1982), in the form
    of Newcombe (2006, method 5), does not reject:

    .. math:: (A - \theta)^2 \le z^2 \, \theta (1-\theta)
        \Big[1 + (N - 1)\Big(\frac{1-\theta}{2-\theta} + \frac{\theta}{1+\theta}\Big)\Big]
        \Big/ (n_+ n_-), \quad N = (n_+ + n_-)/2

    >>> found = area_interval(1.0, 3, 3)
    >>> round(found.low, 2), found.high
    (0.5, 1.0)
    """
    mean_size = (positives + negatives) / 2

    def is_inside(theta: float) -> bool:
        spread = 1 + (mean_size - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        variance = theta * (1 - theta) * spread / (positives * negatives)
        return (area - theta) ** 2 <= _Z**2 * variance

    return Interval(_edge(is_inside, area, 0.0), _edge(is_inside, area, 1.0))


def _edge(is_inside: Any, start: float, end: float) -> float:
    """Return where, on the way from ``start`` to ``end``, the inside ends."""
    inside, outside = start, end
    for _ in range(40):
        middle = (inside + outside) / 2
        # At 0 and 1 the variance vanishes: a start on the edge counts as inside.
        inside, outside = (middle, outside) if is_inside(middle) else (inside, middle)
    return end if abs(inside - end) < 1e-9 else inside


def confusion_interval(name: str, confusion: NDArray[Any]) -> Interval:
    """Return the interval of balanced accuracy or macro F1 from a confusion matrix (C, C).

    The predicted classes of each true class have a Dirichlet posterior whose prior counts as one
    node, spread over the classes (for two classes Jeffreys' prior); the interval holds 95 % of
    its draws, and the observed score.
    """
    rows = confusion[confusion.sum(1) > 0]
    kept = np.flatnonzero(confusion.sum(1) > 0)
    columns = np.flatnonzero(confusion.sum(0) + confusion.sum(1) > 0)
    rng = np.random.default_rng(_SEED)
    prior = 1.0 / max(columns.size, 2)
    drawn = np.zeros((DRAWS, *confusion.shape))
    for place, row in zip(kept, rows, strict=True):
        shares = rng.dirichlet(row[columns] + prior, DRAWS)
        drawn[:, place, columns] = shares * row.sum()
    values = _of_confusion(name, drawn)
    observed = float(_of_confusion(name, confusion[None].astype(np.float64))[0])
    low, high = np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(min(float(low), observed), max(float(high), observed))


def _of_confusion(name: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return balanced accuracy or macro F1 of confusion matrices (n, C, C)."""
    hits = np.diagonal(counts, axis1=1, axis2=2)
    true, predicted = counts.sum(2), counts.sum(1)
    whole = true if name == "balanced-accuracy" else (true + predicted) / 2
    occurs = whole > 0
    shares = np.divide(hits, whole, out=np.zeros_like(hits), where=occurs)
    return np.asarray(shares.sum(1) / occurs.sum(1))


@dataclass(frozen=True, eq=False)
class TestSizes:
    """How much evidence the test sets hold.

    Parameters
    ----------
    classes
        (C,) test nodes of each class that count as evidence: those of **one** split of the
        smallest size, because splits that share test nodes add little new evidence; those of all
        splits together only when no two of them share a test node.
    splits
        Number of splits.
    nodes
        Test nodes of the smallest split.
    test_to_train
        Test nodes over training nodes.
    """

    classes: NDArray[np.float64]
    splits: int
    nodes: int
    test_to_train: float

    __test__ = False  # the name is no test of pytest's

    @classmethod
    def of(cls, labels: Labels, splits: Sequence[Split]) -> TestSizes:
        """Count the test nodes of splits of one graph, by its labels (N,)."""
        tests = np.stack([split.test for split in splits])
        sizes = tests.sum(axis=1)
        num_classes = int(labels.max()) + 1
        total = np.zeros(num_classes)
        for test in tests:
            total += np.bincount(labels[test], minlength=num_classes)
        is_apart = bool((tests.sum(axis=0) <= 1).all())
        counted = sizes.sum() if is_apart else sizes.min()
        return cls(
            classes=total * (counted / sizes.sum()),
            splits=len(sizes),
            nodes=int(sizes.min()),
            test_to_train=float(sizes.sum() / sum(int(split.train.sum()) for split in splits)),
        )


def score_interval(
    name: str,
    values: Sequence[float],
    sizes: TestSizes,
    confusion: NDArray[Any] | None = None,
) -> Interval | None:
    """Return the 95 % interval of a mean score over splits; None where there is no method.

    The interval of the mean on the evidence of ``sizes``. Accuracy: Wilson. ROC AUC:
    :func:`area_interval`; for more than two classes the mean of the bounds of every class against
    the rest. Balanced accuracy and macro F1: :func:`confusion_interval`, with the ``confusion``
    (C, C) of all splits together. Average precision has none. With several splits it is widened
    to the corrected resampled t interval (:func:`mean_interval`), should that be wider; the spread
    of fewer than five splits is too uncertain for that.
    """
    if not values or not np.isfinite(values).all():
        return None
    found = _of_sizes(name, float(np.mean(values)), sizes, confusion)
    if found is None:
        return None
    low, high = found.low, found.high
    if len(values) >= ENOUGH_SPLITS:
        over = mean_interval(values, test_to_train=sizes.test_to_train)
        low, high = min(low, over.low), max(high, over.high)
    return Interval(max(0.0, low), min(1.0, high))


def _of_sizes(
    name: str, mean: float, sizes: TestSizes, confusion: NDArray[Any] | None
) -> Interval | None:
    counts, total = sizes.classes, float(sizes.classes.sum())
    if name == "accuracy":
        return wilson(mean, total)
    if name in ("balanced-accuracy", "macro-f1") and confusion is not None:
        return confusion_interval(name, confusion * (total / confusion.sum()))
    if name != "roc-auc":
        return None
    parts = [area_interval(mean, n, total - n) for n in counts if 0 < n < total]
    return Interval(
        float(np.mean([part.low for part in parts])), float(np.mean([part.high for part in parts]))
    )


def mean_interval(values: Sequence[float], *, test_to_train: float) -> Interval:
    r"""Return the interval of a mean over splits (Nadeau and Bengio 2003).

    .. math:: \bar d \pm t_{R-1} \sqrt{(1/R + n_\text{test}/n_\text{train})\, s_d^2}

    Training sets of random splits overlap, so the plain t interval is too narrow.

    Parameters
    ----------
    values
        (R,) one value per split: a score, or the difference of two models.
    test_to_train
        :math:`n_\text{test}/n_\text{train}`: 1/3 for 60/20/20 splits.
    """
    found = np.asarray(values, np.float64)
    mean, spread = float(found.mean()), float(found.std(ddof=1))
    width = float(stats.t.ppf(0.5 + LEVEL / 2, found.size - 1))
    width *= spread * math.sqrt(1 / found.size + test_to_train)
    return Interval(mean - width, mean + width)


def paired_bootstrap(
    name: str, labels: Labels, first: Probabilities, second: Probabilities
) -> Interval:
    r"""Return the interval of ``first`` minus ``second`` on the test nodes of one split.

    Nodes are drawn again within their class, so that every score stays defined; the seed is
    fixed. It tells how far other test nodes would change the difference, not other trainings. Of
    few nodes it is too narrow: see :func:`hybrid_interval`. From ``LARGE`` nodes on, resamples of
    other scores than accuracy have m = ``SMALLER`` of the n nodes, and their deviations are
    multiplied by :math:`\sqrt{m / n}`.
    """
    rng = np.random.default_rng(_SEED)
    groups = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    if labels.size > LARGE:
        found = _large_bootstrap(name, labels, first, second, groups, rng)
    elif name == "accuracy":  # a mean over nodes: all resamples at once
        gap = (first.argmax(1) == labels).astype(np.float64) - (second.argmax(1) == labels)
        totals = sum(
            gap[group][rng.integers(0, group.size, (RESAMPLES, group.size))].sum(1)
            for group in groups
        )
        found = np.asarray(totals) / labels.size
    else:
        score, values = SCORES[name], []
        for _ in range(RESAMPLES):
            rows = np.concatenate([g[rng.integers(0, g.size, g.size)] for g in groups])
            values.append(score(labels[rows], first[rows]) - score(labels[rows], second[rows]))
        found = np.array(values)
    low, high = np.quantile(found, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(float(low), float(high))


def _large_bootstrap(
    name: str,
    labels: Labels,
    first: Probabilities,
    second: Probabilities,
    groups: Sequence[NDArray[np.int64]],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return differences of resamples, without drawing every one of very many nodes."""
    if name == "accuracy":  # a node counts +1, 0 or -1: how often each is drawn is multinomial
        right = [votes.argmax(1) == labels for votes in (first, second)]
        gap = right[0].astype(np.int8) - right[1]
        totals = np.zeros(RESAMPLES)
        for group in groups:
            counts = np.bincount(gap[group] + 1, minlength=3)
            totals += rng.multinomial(group.size, counts / group.size, RESAMPLES) @ [-1, 0, 1]
        return np.asarray(totals / labels.size)
    score, share = SCORES[name], SMALLER / labels.size
    values = []
    for _ in range(RESAMPLES):
        rows = np.concatenate(
            [g[rng.integers(0, g.size, max(1, round(share * g.size)))] for g in groups]
        )
        values.append(score(labels[rows], first[rows]) - score(labels[rows], second[rows]))
    found = np.array(values)
    observed = score(labels, first) - score(labels, second)
    return np.asarray(observed + (found - found.mean()) * math.sqrt(share))


def hybrid_interval(first: float, second: float, a: Interval, b: Interval) -> Interval:
    r"""Return the interval of ``first - second`` from their own intervals (Newcombe 1998).

    .. math:: d - \sqrt{(p_1 - l_1)^2 + (u_2 - p_2)^2}, \quad
        d + \sqrt{(u_1 - p_1)^2 + (p_2 - l_2)^2}

    That both were measured on the same nodes would make it narrower: it is a cautious one.

    >>> found = hybrid_interval(1.0, 0.5, wilson(1.0, 6), wilson(0.5, 6))
    >>> round(found.low, 2), round(found.high, 2)
    (0.0, 0.81)
    """
    gap = first - second
    low = math.hypot(first - a.low, b.high - second)
    high = math.hypot(a.high - first, second - b.low)
    return Interval(gap - low, gap + high)
