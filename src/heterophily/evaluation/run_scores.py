"""What a stored run keeps of its predictions: every score of two sets, and the confusion matrix."""

from __future__ import annotations

import math
from typing import Any

from heterophily.data.splits import Split
from heterophily.evaluation.per_class import confusion_of
from heterophily.evaluation.scores import SCORES, Labels, Probabilities

MOST_CLASSES = 100
"""With more classes the confusion matrix, (C, C) numbers, is not kept."""


def run_scores(labels: Labels, probabilities: Probabilities, split: Split) -> dict[str, Any]:
    """Return the scores of validation and test nodes, and the confusion matrix of the latter.

    ``labels`` (N,) and ``probabilities`` (N, C) are of all nodes. An undefined score is None.
    """
    return {
        "validation": scores_of(labels[split.validation], probabilities[split.validation]),
        **scores_on_test(labels[split.test], probabilities[split.test]),
    }


def scores_on_test(labels: Labels, probabilities: Probabilities) -> dict[str, Any]:
    """Return the part of :func:`run_scores` that test nodes give."""
    found: dict[str, Any] = {"test": scores_of(labels, probabilities)}
    if probabilities.shape[1] <= MOST_CLASSES:
        found["confusion"] = confusion_of(labels, probabilities).tolist()
    return found


def scores_of(labels: Labels, probabilities: Probabilities) -> dict[str, float | None]:
    """Return every score by its name, None where it is undefined."""
    values = {name: score(labels, probabilities) for name, score in SCORES.items()}
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
