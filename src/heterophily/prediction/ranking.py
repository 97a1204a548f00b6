"""Two classes, one rare: how many of the nodes that are ranked first are of the rare class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterophily.evaluation.scores import Labels, Probabilities, rarer

SHARES = (0.01, 0.05)
"""Of the nodes, so many are looked at; and as many as there are of the rare class."""


@dataclass(frozen=True, slots=True)
class TopNodes:
    """Of the ``count`` nodes ranked first, the share ``precision`` is of the class; means over test
    sets. ``chance`` is the share of the class among all."""

    class_number: int
    count: int
    precision: float
    recall: float
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "class": self.class_number,
            "nodes": self.count,
            "precision": self.precision,
            "recall": self.recall,
            "chance": self.chance,
        }


def precision_at(labels: Labels, scores: Probabilities, count: int) -> float:
    """Return the share of positive nodes (label 1) among those with the highest scores.

    Of nodes with equal scores at the end of the list the expected share is taken.

    >>> precision_at(np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.1]), 2)
    0.5
    >>> precision_at(np.array([1, 0, 0, 0]), np.array([0.5, 0.5, 0.5, 0.5]), 1)
    0.25
    """
    last = np.partition(scores, -count)[-count]
    above, equal = scores > last, scores == last
    found = labels[above].sum() + (count - above.sum()) * labels[equal].mean()
    return float(found / count)


def top_nodes(test: Sequence[tuple[Labels, Probabilities]]) -> tuple[TopNodes, ...]:
    """Return what the first nodes of a ranking hold; nothing unless there are two classes."""
    if not test or test[0][1].shape[1] != 2:
        return ()
    positive = rarer(np.bincount(np.concatenate([labels for labels, _ in test]), minlength=2))
    nodes = min(labels.size for labels, _ in test)
    rare = min(int((labels == positive).sum()) for labels, _ in test)
    counts = sorted({*(max(1, round(share * nodes)) for share in SHARES), rare} - {0})
    found = []
    for count in counts:
        shares = [
            precision_at((labels == positive).astype(int), votes[:, positive], count)
            for labels, votes in test
        ]
        sizes = [max(1, int((labels == positive).sum())) for labels, _ in test]
        recalls = [count * share / size for share, size in zip(shares, sizes, strict=True)]
        chance = float(np.mean([(labels == positive).mean() for labels, _ in test]))
        found.append(
            TopNodes(positive, count, float(np.mean(shares)), float(np.mean(recalls)), chance)
        )
    return tuple(found)
