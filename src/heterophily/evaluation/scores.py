"""Scores of predicted probabilities, and which of them a graph is judged by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.evaluation.ranking import area_under_roc, mean_precision

Labels = NDArray[np.int64]
Probabilities = NDArray[np.floating]
Score = Callable[[Labels, Probabilities], float]

BINS = 15
"""Bins of the expected calibration error, as in Guo et al. 2017."""


def accuracy(labels: Labels, probabilities: Probabilities) -> float:
    """Share of nodes (n,) whose most probable class (n, C) is the right one.

    >>> accuracy(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    return float(np.mean(probabilities.argmax(1) == labels))


def balanced_accuracy(labels: Labels, probabilities: Probabilities) -> float:
    """Mean over the classes that occur of the share of their nodes that were found (recall).

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.tile([0.9, 0.1], (4, 1)))
    0.5
    """
    right, true, _ = _counts(labels, probabilities)
    return float(np.mean(right[true > 0] / true[true > 0]))


def macro_f1(labels: Labels, probabilities: Probabilities) -> float:
    """Mean of the classes' F1, over all classes that occur or were predicted.

    >>> round(macro_f1(np.array([0, 0, 1]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])), 4)
    0.6667
    """
    right, true, found = _counts(labels, probabilities)
    occurs = true + found > 0
    return float(np.mean(2 * right[occurs] / (true + found)[occurs]))


def _counts(
    labels: Labels, probabilities: Probabilities
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return by class: nodes found, nodes there are, nodes predicted."""
    predicted, size = probabilities.argmax(1), probabilities.shape[1]
    right = np.bincount(labels[predicted == labels], minlength=size)
    return right, np.bincount(labels, minlength=size), np.bincount(predicted, minlength=size)


def roc_auc(labels: Labels, probabilities: Probabilities) -> float:
    """Area under the ROC curve: chance that a node of a class is ranked above one outside it.

    Two classes: of either of them. More: one against the rest, the mean over the classes that
    occur. NaN when only one class occurs. Ties count one half.

    >>> roc_auc(np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.9, 0.1], [0.3, 0.7]]))
    0.5
    """
    classes = np.unique(labels)
    if classes.size < 2:
        return math.nan
    asked = [1] if probabilities.shape[1] == 2 else classes
    return float(np.mean([area_under_roc(labels == k, probabilities[:, k]) for k in asked]))


def average_precision(labels: Labels, probabilities: Probabilities) -> float:
    """Mean precision over the ranks of a class: the area under its precision-recall curve.

    Two classes: of the rarer one among ``labels``, where chance is its share. More: one against
    the rest, the mean over the classes that occur. NaN when only one class occurs.

    >>> average_precision(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]))
    0.5
    """
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size < 2:
        return math.nan
    asked = [rarer(counts)] if probabilities.shape[1] == 2 else classes
    return float(np.mean([mean_precision(labels == k, probabilities[:, k]) for k in asked]))


def rarer(counts: NDArray[np.int64]) -> int:
    """Return the class of two that has fewer nodes; of equal ones the second.

    >>> rarer(np.array([3, 9])), rarer(np.array([4, 4]))
    (0, 1)
    """
    return int(counts[0] >= counts[1])


def expected_calibration_error(
    labels: Labels, probabilities: Probabilities, *, bins: int = BINS
) -> float:
    r"""Mean distance between confidence and accuracy over bins of equal width (Guo et al. 2017).

    .. math:: \text{ECE} = \textstyle\sum_b \frac{n_b}{n} |\text{acc}_b - \text{conf}_b|

    >>> expected_calibration_error(np.array([0, 1]), np.array([[0.75, 0.25], [0.75, 0.25]]))
    0.25
    """
    confidence = probabilities.max(1)
    is_right = probabilities.argmax(1) == labels
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(place, confidence - is_right, minlength=bins)
    return float(np.abs(gaps).sum() / labels.size)


def log_likelihood(labels: Labels, probabilities: Probabilities) -> float:
    """Mean logarithm of the probability (n, C) of the right class: minus the log loss.

    >>> round(log_likelihood(np.array([0, 1]), np.array([[0.9, 0.1], [0.5, 0.5]])), 3)
    -0.399
    """
    right = np.take_along_axis(probabilities, labels[:, None], axis=1)
    return float(np.log(np.maximum(right, 1e-9)).mean())


SCORES: Mapping[str, Score] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
    "macro-f1": macro_f1,
    "roc-auc": roc_auc,
    "average-precision": average_precision,
}
"""Name -> score of (labels, probabilities), higher is better."""

SCORE_TITLES: Mapping[str, str] = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced accuracy",
    "macro-f1": "macro F1",
    "roc-auc": "ROC AUC",
    "average-precision": "average precision",
}
"""Name -> how a score is written for people."""

RARE = 0.25
"""Two classes: share of the smaller one up to which models are compared by ROC AUC."""

DOMINANT, TIMES_THE_MEDIAN = 0.5, 5
"""More classes: balanced accuracy, when one holds more than this share of the nodes and at least so
many times as many as the class in the middle."""


def score_for(labels: Labels) -> str:
    """Return the score by which models are compared on a graph, by the sizes of its classes.

    Accuracy, unless guessing the largest class already looks good: ROC AUC for two classes of
    which one holds at most a quarter of the nodes; balanced accuracy for more classes of which one
    holds more than half of the nodes and five times as many as the class in the middle. All sets
    of the paper are compared by accuracy.

    >>> score_for(np.array([0, 0, 0, 0, 1, -1])), score_for(np.array([0, 1, 2]))
    ('roc-auc', 'accuracy')
    >>> score_for(np.repeat([0, 1, 2], [80, 10, 10]))
    'balanced-accuracy'
    """
    known = labels[labels >= 0]
    if known.size == 0:
        raise InputError("no node has a label: there is nothing to score")
    counts = np.bincount(known)
    counts = counts[counts > 0]
    largest, total = int(counts.max()), int(counts.sum())
    if counts.size == 2:
        return "roc-auc" if counts.min() <= RARE * total else "accuracy"
    is_dominant = largest > DOMINANT * total and largest >= TIMES_THE_MEDIAN * np.median(counts)
    return "balanced-accuracy" if counts.size > 2 and is_dominant else "accuracy"
