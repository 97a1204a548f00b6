"""How well each class is found: precision, recall, and what is taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.evaluation.scores import Labels, Probabilities


def confusion_of(labels: Labels, probabilities: Probabilities) -> NDArray[np.int64]:
    """Return the confusion matrix (C, C): true class by row, most probable class by column.

    >>> confusion_of(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])).tolist()
    [[1, 0], [1, 1]]
    """
    size = probabilities.shape[1]
    places = labels * size + probabilities.argmax(1)
    return np.bincount(places, minlength=size * size).reshape(size, size)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One class: of the nodes called so, the share that are (precision); of those that are so, the
    share that was found (recall). None where there is no such node."""

    name: str
    nodes: int
    precision: float | None
    recall: float | None
    f1: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "class": self.name,
            "nodes": self.nodes,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


def class_scores(
    confusion: NDArray[np.int64], class_names: Sequence[str]
) -> tuple[ClassScore, ...]:
    """Return precision, recall and F1 of each class from a confusion matrix.

    >>> [found.recall for found in class_scores(np.array([[1, 0], [1, 1]]), ("a", "b"))]
    [1.0, 0.5]
    """
    hits, true, called = np.diag(confusion), confusion.sum(1), confusion.sum(0)

    def share(part: float, whole: float) -> float | None:
        return float(part / whole) if whole else None

    return tuple(
        ClassScore(
            name=str(class_names[k]),
            nodes=int(true[k]),
            precision=share(hits[k], called[k]),
            recall=share(hits[k], true[k]),
            f1=share(2 * hits[k], true[k] + called[k]),
        )
        for k in range(len(confusion))
    )
