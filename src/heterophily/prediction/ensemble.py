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
    """The members that vote, and the mean validation score after each finalist that joined."""

    trials: tuple[Trial, ...]
    members: tuple[Member, ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        """Mean validation score of the chosen members, each split by its own."""
        return self.scores[-1]


def average(members: Sequence[Member]) -> NDArray[np.float64]:
    """Return the mean of the members' probabilities (N, C)."""
    total = np.zeros_like(members[0].probabilities)
    for member in members:
        total += member.probabilities
    return total / len(members)


def choose(
    finalists: Sequence[Trial], labels: NDArray[np.int64], splits: SplitBatch, score: Score
) -> Ensemble:
    """Let finalists join one by one, and keep those with whom the vote was best.

    The best finalist begins; then joins, each time, whoever gives the highest mean score on
    validation nodes, even when it falls, and in the end those vote with whom it was highest (after
    Caruana et al. 2004). Every member has one vote, so a finalist with more seeds has more. On the
    validation nodes of a split only members of that split vote: others may have been trained on
    these nodes. Finalists come best first.
    """
    rows = [np.flatnonzero(split.validation) for split in splits]

    def votes(trial: Trial) -> dict[int, NDArray[np.float64]]:
        total: dict[int, NDArray[np.float64]] = {}
        for (split, _), member in trial.members.items():
            vote = member.probabilities[rows[split]]
            total[split] = total[split] + vote if split in total else vote
        return total

    def joined(*parts: dict[int, NDArray[np.float64]]) -> dict[int, NDArray[np.float64]]:
        every = {split for part in parts for split in part}
        return {s: np.sum([part[s] for part in parts if s in part], axis=0) for s in sorted(every)}

    def scored(total: dict[int, NDArray[np.float64]]) -> float:
        found = [
            score(labels[rows[split]], vote / vote.sum(1, keepdims=True))
            for split, vote in total.items()
        ]
        return float(np.mean(found))

    waiting = {trial: votes(trial) for trial in finalists}
    order = [finalists[0]]
    total = waiting.pop(finalists[0])
    scores = [scored(total)]
    while waiting:
        after = {trial: joined(total, vote) for trial, vote in waiting.items()}
        values = {trial: scored(vote) for trial, vote in after.items()}
        best = max(values, key=values.__getitem__)
        del waiting[best]
        order.append(best)
        total = after[best]
        scores.append(values[best])
    best_size = 1 + int(np.argmax(scores))  # of equal scores the smallest
    chosen, scores = order[:best_size], scores[:best_size]
    members = tuple(member for trial in chosen for member in trial.members.values())
    return Ensemble(tuple(chosen), members, tuple(scores))


def unseen(members: Sequence[Member], splits: SplitBatch, rows: NDArray[np.int64]) -> list[Member]:
    """Return the members that saw none of the nodes ``rows``, in training or in validation."""
    fair = {
        number
        for number, split in enumerate(splits)
        if not (split.train[rows].any() or split.validation[rows].any())
    }
    return [member for member in members if member.split in fair]
