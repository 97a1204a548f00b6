"""Scores of predicted probabilities: what accuracy hides when classes are of unequal size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heterophily.errors import InputError

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
    right = probabilities.argmax(1) == labels
    return float(np.mean([right[labels == k].mean() for k in np.unique(labels)]))


def macro_f1(labels: Labels, probabilities: Probabilities) -> float:
    """Mean of the classes' F1, over all classes that occur or were predicted.

    >>> macro_f1(np.array([0, 0, 1]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    0.6666666666666666
    """
    predicted = probabilities.argmax(1)
    values = []
    for k in np.union1d(labels, predicted):
        hits = int(np.sum((predicted == k) & (labels == k)))
        values.append(2 * hits / int(np.sum(predicted == k) + np.sum(labels == k)))
    return float(np.mean(values))


def roc_auc(labels: Labels, probabilities: Probabilities) -> float:
    r"""Area under the ROC curve: chance that a node of a class is ranked above one outside it.

    Two classes: of class 1. More: one against the rest, the mean over the classes that occur. NaN
    when only one class occurs. Ties count one half (Mann-Whitney's U):

    .. math:: \text{AUC} = \big(\textstyle\sum_{i \in +} r_i - n_+ (n_+ + 1) / 2\big) / (n_+ n_-)

    >>> roc_auc(np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.9, 0.1], [0.3, 0.7]]))
    0.5
    """
    classes = [1] if probabilities.shape[1] == 2 else np.unique(labels)
    values = [_area(labels == k, probabilities[:, k]) for k in classes]
    return float(np.mean(values))


def _area(is_positive: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    positives = int(is_positive.sum())
    negatives = is_positive.size - positives
    if positives == 0 or negatives == 0:
        return math.nan
    ranks = float(rankdata(scores)[is_positive].sum())
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


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
}
"""Name -> score of (labels, probabilities), higher is better."""

RARE = 0.25
"""Share of the smaller of two classes up to which ``auto`` scores by ROC AUC."""


def score_for(labels: Labels) -> str:
    """Return the score that ``auto`` stands for: ROC AUC for two classes of unequal size.

    >>> score_for(np.array([0, 0, 0, 0, 1, -1])), score_for(np.array([0, 1, 2]))
    ('roc-auc', 'accuracy')
    """
    known = labels[labels >= 0]
    if known.size == 0:
        raise InputError("no node has a label: there is nothing to score")
    counts = np.bincount(known)
    counts = counts[counts > 0]
    is_rare = counts.size == 2 and counts.min() <= RARE * counts.sum()
    return "roc-auc" if is_rare else "accuracy"


def all_scores(labels: Labels, probabilities: Probabilities) -> dict[str, float]:
    """Return every score and the calibration error, by name."""
    found = {name: score(labels, probabilities) for name, score in SCORES.items()}
    return {**found, "calibration-error": expected_calibration_error(labels, probabilities)}
