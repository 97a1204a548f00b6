"""Which finalists vote together, and their votes: chosen on validation nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heterophily.data.splits import SplitBatch
from heterophily.evaluation.scores import Probabilities, Score, log_likelihood
from heterophily.prediction.members import Member
from heterophily.prediction.trial import Trial

SCORE_MAY_FALL = 0.002
"""By so much the validation score may be below that of the best finalist when others join it."""


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


def balanced_log_likelihood(labels: NDArray[np.int64], probabilities: Probabilities) -> float:
    """Mean over the classes that occur of the mean log probability of their nodes.

    >>> votes = np.array([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]])
    >>> round(balanced_log_likelihood(np.array([0, 0, 1]), votes), 3)
    -0.399
    """
    found = [
        log_likelihood(labels[labels == k], probabilities[labels == k]) for k in np.unique(labels)
    ]
    return float(np.mean(found))


def choose(
    finalists: Sequence[Trial],
    labels: NDArray[np.int64],
    splits: SplitBatch,
    score: Score,
    *,
    by_class: bool = False,
) -> Ensemble:
    """Let finalists join one by one, as long as the vote gets better.

    Begin with the best finalist; then add the model that most improves the log-likelihood of the
    validation nodes (mean over the splits); stop when none does (after Caruana et al. 2004). The
    likelihood, not the score: every vote changes it, so less is left to chance
    (docs/research/2026-11-17-auto-recipes.md has the comparison). A model that lowers the score by
    more than ``SCORE_MAY_FALL`` is not added: where the best model is not certain enough, others
    raise the likelihood by their certainty alone. Every member has one vote, so a finalist with
    more seeds has more. On the validation nodes of a split only members of that split vote: others
    may have been trained on these nodes. Finalists come best first. ``by_class``: every class
    counts alike in the likelihood, as it does in the score.
    """
    rows = [np.flatnonzero(split.validation) for split in splits]
    fit = balanced_log_likelihood if by_class else log_likelihood

    def votes(trial: Trial) -> dict[int, NDArray[np.float64]]:
        total: dict[int, NDArray[np.float64]] = {}
        for (split, _), member in trial.members.items():
            vote = member.probabilities[rows[split]]
            total[split] = total[split] + vote if split in total else vote
        return total

    def joined(*parts: dict[int, NDArray[np.float64]]) -> dict[int, NDArray[np.float64]]:
        every = {split for part in parts for split in part}
        return {s: np.sum([part[s] for part in parts if s in part], axis=0) for s in sorted(every)}

    def mean(by: Score, total: dict[int, NDArray[np.float64]]) -> float:
        found = [
            by(labels[rows[split]], vote / vote.sum(1, keepdims=True))
            for split, vote in total.items()
        ]
        known = [value for value in found if np.isfinite(value)]  # else undefined on this split
        return float(np.mean(known)) if known else float("nan")

    waiting = {trial: votes(trial) for trial in finalists}
    chosen, total = [finalists[0]], waiting.pop(finalists[0])
    scores, likelihood = [mean(score, total)], mean(fit, total)
    lowest = scores[0] - SCORE_MAY_FALL
    while waiting:
        after = {trial: joined(total, vote) for trial, vote in waiting.items()}
        after = {t: vote for t, vote in after.items() if not mean(score, vote) < lowest}
        values = {trial: mean(fit, vote) for trial, vote in after.items()}
        best = max(values, key=values.__getitem__, default=None)
        if best is None or values[best] <= likelihood:
            break
        del waiting[best]
        chosen.append(best)
        total, likelihood = after[best], values[best]
        scores.append(mean(score, total))
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
