"""Successive halving: many candidates on few splits, the better ones on more (Jamieson and
Talwalkar 2016), under a clock, by validation scores alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from heterophily.evaluation.scores import Score
from heterophily.prediction.candidates import Candidate, Family
from heterophily.prediction.members import Member, SplitTrainer, Task
from heterophily.prediction.proposals import NEAR, Proposals
from heterophily.training.cores import usable_cores

KEEP = 3
"""Of so many candidates one survives a rung."""

MIN_KEPT, MAX_KEPT = 5, 30
"""So many survive a rung at least, because they vote together in the end, and at most, because
their parameters are kept."""

NODES_TO_JUDGE = 1000
"""The first rung has so many splits that a candidate is judged on at least this many validation
nodes: a smaller number tells candidates of a small graph apart by chance, a larger one leaves time
for fewer candidates."""

SHARES = (0.4, 0.6, 0.8)
"""Share of the time that has passed when each rung ends; the rest is for more seeds."""

_BATCH = 8  # replicas between two looks at the clock, at most; but one for each worker
_LOOK = 5.0  # seconds between two looks that are enough: of long trainings, fewer


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

    def first(self, share: float) -> Clock:
        """Return the same clock for the first part of its time."""
        part = Clock(share * self.seconds, self.now)
        part.start = self.start
        return part


@dataclass(eq=False)
class Search:
    """The state of a search; what is in it is usable at any moment, Ctrl-C included.

    ``score_name`` is that of the score in the records of the runs.
    """

    trainer: SplitTrainer
    score: Score
    clock: Clock
    score_name: str = ""
    max_trials: int | None = None
    progress: Callable[[], None] | None = None
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with one replica for each worker: how long a training takes is not known."""
        self._workers = self.trainer.workers or usable_cores()
        self._batch = self._workers

    def run(self, candidates: Mapping[Family, Iterable[Candidate]]) -> list[Trial]:
        """Return the finalists, best first: each trained on every split.

        One training for each worker is done in any case; when the time is up before any candidate
        was trained on every split, the best of those on the most splits is the only finalist.
        """
        rungs = self.rungs()
        alive: list[Trial] = []
        for trial in self._drawn(candidates):
            self.trials.append(trial)
            alive.append(trial)
            tasks = [(trial, split, 0) for split in range(rungs[0])]
            sure = self._workers if len(alive) == 1 else 0
            self.train(tasks[:sure], until=math.inf)
            self.train(tasks[sure:], until=1.0)
            self._survivors(alive, count=MAX_KEPT)
        for rung, count in enumerate(rungs[1:], start=1):
            kept = min(MAX_KEPT, math.ceil(len(alive) / KEEP))
            alive = self._survivors(alive, count=max(MIN_KEPT, kept))
            until = SHARES[min(rung, len(SHARES) - 1)]
            for trial in _leaders_first(alive):  # what the time does not allow is left out
                needed = [(trial, split, 0) for split in range(trial.splits, count)]
                self.train(needed, until=until if trial is not alive[0] else 1.0)
            most = max((trial.splits for trial in alive), default=0)
            alive = [trial for trial in alive if trial.splits == most]
        return self._survivors(alive, count=len(alive))

    def _drawn(self, candidates: Mapping[Family, Iterable[Candidate]]) -> Iterator[Trial]:
        """Yield candidates of the first rung, each trained before the next is drawn."""
        proposals = Proposals(candidates)
        for count in itertools.count():
            if count == self.max_trials or (count and self.clock.share > SHARES[0]):
                return
            candidate = proposals.next()
            if candidate is None:
                return
            start, trial = self.clock.now(), Trial(candidate)
            yield trial
            seconds = self.clock.now() - start
            proposals.report(candidate, score=trial.mean, seconds=seconds)

    def rungs(self) -> list[int]:
        """Return on how many splits candidates are trained, rung by rung."""
        total = len(self.trainer.splits)
        nodes = float(np.mean([split.validation.sum() for split in self.trainer.splits]))
        first = min(total, math.ceil(NODES_TO_JUDGE / nodes))
        return [first, max(first, math.ceil(total / 2)), total]

    def add_seeds(self, finalists: Sequence[Trial], *, seeds: int) -> None:
        """Train finalists again with other seeds, all of them once before any of them twice."""
        splits = range(len(self.trainer.splits))
        for seed in range(1, seeds):
            for trial in finalists:
                if self.clock.share > 1.0:
                    return
                self.train([(trial, split, seed) for split in splits], until=1.0)

    def train(self, tasks: Sequence[tuple[Trial, int, int]], *, until: float) -> None:
        """Train tasks in small batches while less than ``until`` of the time has passed."""
        waiting = list(tasks)
        while waiting and self.clock.share <= until:
            batch, waiting = waiting[: self._batch], waiting[self._batch :]
            wanted: list[Task] = [(trial.candidate, split, seed) for trial, split, seed in batch]
            start = self.clock.now()
            done = self.trainer.train(wanted)
            for (trial, split, seed), task in zip(batch, wanted, strict=True):
                self._take(trial, split, seed, done[task])
            each = (self.clock.now() - start) / len(batch)
            self._batch = max(self._workers, int(_LOOK / max(each, _LOOK / _BATCH)))
            if self.progress is not None:
                self.progress()

    def _take(self, trial: Trial, split: int, seed: int, member: Member | None) -> None:
        if member is None:
            trial.has_diverged |= seed == 0
            return
        trial.members[split, seed] = member
        if self.score_name in member.validation:
            value = member.validation[self.score_name]
            trial.scores[split, seed] = math.nan if value is None else value
            return
        rows = np.flatnonzero(self.trainer.splits[split].validation)
        labels = self.trainer.graph.labels[rows]
        trial.scores[split, seed] = self.score(labels, member.probabilities[rows])

    def _survivors(self, trials: Sequence[Trial], *, count: int) -> list[Trial]:
        """Return the better trials, best first; the others forget their parameters."""
        usable = [trial for trial in trials if trial.mean > -math.inf]
        ordered = sorted(usable, key=lambda trial: -trial.mean)
        leaders = _leaders(ordered)
        kept = [trial for place, trial in enumerate(ordered) if place < count or trial in leaders]
        for trial in set(ordered) - set(kept):
            trial.forget()
        return kept


def ranked(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials best first; a mean of fewer trainings, more of it chance, comes after."""
    return sorted(trials, key=lambda trial: (-len(trial.scores), -trial.mean))


def _leaders(ordered: Sequence[Trial]) -> list[Trial]:
    """Return the best trial of each family that is near to the leader; trials come best first.

    They survive a rung, and are trained on further splits before the second best of another
    family: models that err on other nodes make better ensembles.
    """
    best: dict[Family, Trial] = {}
    for trial in ordered:
        best.setdefault(trial.candidate.family, trial)
    return [trial for trial in best.values() if trial.mean >= ordered[0].mean - NEAR]


def _leaders_first(ordered: Sequence[Trial]) -> list[Trial]:
    """Return the leaders of the families, then the other trials, each best first."""
    return list(dict.fromkeys([*_leaders(ordered), *ordered]))
