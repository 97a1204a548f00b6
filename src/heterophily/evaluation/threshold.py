"""Two classes: from which probability on a node is called one of the rarer class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterophily.evaluation.per_class import class_scores, confusion_of
from heterophily.evaluation.scores import SCORES, Labels, Probabilities, rarer

_SHOWN = ("accuracy", "balanced-accuracy", "macro-f1")  # ranks do not depend on a threshold


@dataclass(frozen=True, eq=False)
class Threshold:
    """The threshold chosen on validation nodes, and what it gives on test nodes; means over splits.

    Parameters
    ----------
    positive
        The rarer class: a node is called so from this probability on.
    value
        The probability; calling the most probable class is a threshold of 0.5.
    scores
        Scores of the test nodes at the threshold, and ``precision``, ``recall`` and ``f1`` of the
        rarer class.
    """

    positive: int
    value: float
    scores: dict[str, float]

    def to_dict(self, class_names: Sequence[str]) -> dict[str, Any]:
        """Return plain data."""
        name = str(class_names[self.positive])
        return {"class": name, "value": self.value, "chosen_by": "f1", "test": dict(self.scores)}


def best_threshold(labels: Labels, scores: Probabilities) -> float:
    """Return the score from which on calling a node positive gives the highest F1.

    Of equally good ones that nearest to 0.5. ``labels`` are 0 and 1, both occur.

    >>> best_threshold(np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.4]))
    0.3
    """
    from sklearn.metrics import precision_recall_curve

    precision, recall, values = precision_recall_curve(labels, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = np.flatnonzero(f1[:-1] >= f1[:-1].max() - 1e-12)
    return float(values[best[np.abs(values[best] - 0.5).argmin()]])


def choose_threshold(
    validation: Sequence[tuple[Labels, Probabilities]],
    test: Sequence[tuple[Labels, Probabilities]],
) -> Threshold | None:
    """Choose a threshold on the validation nodes of each split and apply it to its test nodes.

    It maximises the F1 of the rarer class, counted over all validation nodes. None unless there
    are two classes, and both occur among the validation nodes of every split.
    """
    if test[0][1].shape[1] != 2:
        return None
    counts = np.bincount(np.concatenate([labels for labels, _ in validation]), minlength=2)
    positive = rarer(counts)
    values, scores = [], []
    for (known, guessed), (labels, probabilities) in zip(validation, test, strict=True):
        if np.unique(known).size < 2:
            return None
        value = best_threshold((known == positive).astype(np.int64), guessed[:, positive])
        called = np.where(probabilities[:, positive] >= value, positive, 1 - positive)
        certain = np.eye(2)[called]
        rare = class_scores(confusion_of(labels, certain), ("0", "1"))[positive]
        found = {name: SCORES[name](labels, certain) for name in _SHOWN}
        found |= {"precision": rare.precision or 0.0, "recall": rare.recall or 0.0}
        found["f1"] = rare.f1 or 0.0
        values.append(value)
        scores.append(found)
    means = {name: float(np.mean([found[name] for found in scores])) for name in scores[0]}
    return Threshold(positive, float(np.mean(values)), means)
