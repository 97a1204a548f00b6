"""Which finalists vote together, and their votes: chosen on validation nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heterophily.data.splits import SplitBatch
from heterophily.prediction.members import Member
from heterophily.prediction.search import Trial
from heterophily.training.scores import Score


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The members that vote, and the mean validation score of every number of finalists."""

    trials: tuple[Trial, ...]
    members: tuple[Member, ...]
    scores: tuple[float, ...]  # of the best 1, 2, 3, ... finalists together

    @property
    def score(self) -> float:
        """Mean validation score of the chosen members, each split by its own."""
        return self.scores[len(self.trials) - 1]


def average(members: Sequence[Member]) -> NDArray[np.float64]:
    """Return the mean of the members' probabilities (N, C)."""
    total = np.zeros_like(members[0].probabilities)
    for member in members:
        total += member.probabilities
    return total / len(members)


def choose(
    finalists: Sequence[Trial], labels: NDArray[np.int64], splits: SplitBatch, score: Score
) -> Ensemble:
    """Take the best 1, 2, 3, ... finalists: as many as score best together on validation nodes.

    On the validation nodes of a split only members of that split vote: others may have been
    trained on these nodes. Equal scores go to more finalists. Finalists come best first.
    """
    scores = []
    totals: dict[int, NDArray[np.float64]] = {}
    for trial in finalists:
        for split in range(len(splits)):
            mine = [member for (at, _), member in trial.members.items() if at == split]
            if mine:
                totals[split] = totals.get(split, 0.0) + average(mine)
        found = []
        for split, total in sorted(totals.items()):
            rows = np.flatnonzero(splits[split].validation)
            found.append(score(labels[rows], total[rows] / total[rows].sum(1, keepdims=True)))
        scores.append(float(np.mean(found)))
    count = max(range(len(scores)), key=lambda place: (scores[place], place)) + 1
    chosen = tuple(finalists[:count])
    members = tuple(member for trial in chosen for member in trial.members.values())
    return Ensemble(chosen, members, tuple(scores))


def unseen(members: Sequence[Member], splits: SplitBatch, rows: NDArray[np.int64]) -> list[Member]:
    """Return the members that saw none of the nodes ``rows``, in training or in validation."""
    fair = {
        number
        for number, split in enumerate(splits)
        if not (split.train[rows].any() or split.validation[rows].any())
    }
    return [member for member in members if member.split in fair]
