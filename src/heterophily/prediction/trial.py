"""A candidate on trial: its members so far and their validation scores; and the clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from heterophily.prediction.candidates import Candidate
from heterophily.prediction.families import Family
from heterophily.prediction.members import Member


@dataclass(eq=False)
class Trial:
    """A candidate, its members so far by (split, seed), and their validation scores.

    It holds no score of a test set.
    """

    candidate: Candidate
    members: dict[tuple[int, int], Member] = field(default_factory=dict)
    scores: dict[tuple[int, int], float] = field(default_factory=dict)
    has_diverged: bool = False

    @property
    def mean(self) -> float:
        """Mean validation score so far; minus infinity when it cannot be used.

        A validation set on which the score is undefined (ROC AUC of a single class) is left out.
        """
        known = [value for value in self.scores.values() if math.isfinite(value)]
        return math.fsum(known) / len(known) if known and not self.has_diverged else -math.inf

    @property
    def splits(self) -> int:
        """On how many splits it was scored."""
        return len({split for split, _ in self.scores})

    @property
    def seconds(self) -> float:
        """What its trainings took."""
        return math.fsum(member.seconds for member in self.members.values())

    @property
    def is_cut(self) -> bool:
        """Whether its trainings were short, and one of them ended only because of that."""
        most = self.candidate.settings.get("max_epochs")
        return most is not None and any(m.epochs >= most for m in self.members.values())

    def behind(self, other: Trial) -> float:
        """Return by how much another trial is ahead, on the trainings that both have."""
        both = [
            (other.scores[key], self.scores[key])
            for key in self.scores.keys() & other.scores.keys()
            if math.isfinite(other.scores[key]) and math.isfinite(self.scores[key])
        ]
        return math.fsum(a - b for a, b in both) / len(both) if both else 0.0

    def forget(self) -> None:
        """Let go of the parameters: the candidate is out."""
        for member in self.members.values():
            member.forget()
        self.members.clear()


@dataclass(eq=False)
class Clock:
    """How much of the time has passed: a share of ``seconds`` on a clock of your choice."""

    seconds: float
    now: Callable[[], float]

    def __post_init__(self) -> None:
        """Start."""
        self.start = self.now()

    @property
    def share(self) -> float:
        """Share of the time that has passed."""
        return (self.now() - self.start) / self.seconds

    @property
    def left(self) -> float:
        """Seconds that are left; 0 when the time is up."""
        return max(0.0, (1.0 - self.share) * self.seconds)

    def first(self, share: float) -> Clock:
        """Return the same clock for the first part of its time."""
        part = Clock(share * self.seconds, self.now)
        part.start = self.start
        return part


def leader_of(trials: Iterable[Trial], margin: float) -> Trial:
    """Return the best trial: that with the best mean of those on the most splits, unless another
    that was not trained on all of them is ahead by more than ``margin`` on those that it shares."""
    ordered = sorted(trials, key=lambda trial: (-trial.splits, -trial.mean))
    best = ordered[0]
    for trial in ordered[1:]:
        if trial.mean > -math.inf and best.behind(trial) > margin:
            best = trial
    return best


def ranked(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials best first; a mean of fewer trainings, more of it chance, comes after."""
    return sorted(trials, key=lambda trial: (-len(trial.scores), -trial.mean))


def leaders(ordered: Sequence[Trial], margin: float) -> list[Trial]:
    """Return the best trial of each family that is near to the leader; trials come best first.

    They survive a rung, and are trained on further splits before the second best of another
    family: models that err on other nodes make better ensembles.
    """
    best: dict[Family, Trial] = {}
    for trial in ordered:
        best.setdefault(trial.candidate.family, trial)
    return [trial for trial in best.values() if trial.mean >= ordered[0].mean - margin]


def leaders_first(ordered: Sequence[Trial], margin: float) -> list[Trial]:
    """Return the leaders of the families, then the other trials, each best first."""
    return list(dict.fromkeys([*leaders(ordered, margin), *ordered]))
