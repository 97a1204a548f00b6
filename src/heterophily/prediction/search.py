"""The search: every family has a cheap first chance, what is far behind ends early (after
successive halving, Jamieson and Talwalkar 2016), under a clock, by validation scores alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from heterophily.data.splits import SplitBatch
from heterophily.evaluation.scores import Score
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.cost import SHORTENED, Speed, WorkSize
from heterophily.prediction.families import Family
from heterophily.prediction.members import Member, SplitTrainer, Task
from heterophily.prediction.proposals import NEAR, Proposals
from heterophily.prediction.trial import Clock, Trial, leader_of, leaders, leaders_first
from heterophily.training.cores import usable_cores

KEEP = 3
"""Of so many candidates one survives a rung."""

MIN_KEPT, MAX_KEPT = 5, 30
"""So many survive a rung at least, because they vote together in the end, and at most, because
their parameters are kept."""

NODES_TO_LOOK, NODES_TO_JUDGE = 200, 1000
"""A candidate is first trained on so many splits that it is looked at on 200 validation nodes. If
it is not far behind, on so many that it is judged on 1,000: a smaller number tells candidates of a
small graph apart by chance, a larger one leaves time for fewer candidates."""

SHARES = (0.4, 0.6, 0.8)
"""Share of the time that has passed when each rung ends; the rest is for more seeds."""

FIRST_ROUND = (0.5, 0.75)
"""Share of the time after which families that were not tried yet are given up, with a note: between
these two, so that the leader can be trained twice on every split afterwards."""

LONGER = 0.8
"""Until this share of the time has passed, leaders whose first training was short get a longer one
instead of more splits and seeds: a model that was cut off is rarely the best of its family."""

PLATEAU = 20
"""So many candidates without progress end the first rung, when the strong settings are tried."""

OVERTIME, OVERTIME_SECONDS = 0.2, 10.0
"""The best candidate is trained on every split after the time is up, if that takes at most this
share of it, or so many seconds."""

TOO_NOISY = 0.05
"""Where only larger differences than this can be told from chance, as on graphs with less than
about 225 validation nodes, strong settings that were not tried do not keep a search going."""

EXACT = 1.0 - 1e-9
ENOUGH_FAMILIES = 4
"""When every validation node is right after so many families, nothing is left to search for."""

_BATCH = 8  # replicas between two looks at the clock, at most; but one for each worker
_LOOK = 5.0  # seconds between two looks that are enough: of long trainings, fewer


def rungs_of(splits: SplitBatch) -> list[int]:
    """Return on how many splits candidates are trained, rung by rung."""
    total = len(splits)
    nodes = float(np.mean([split.validation.sum() for split in splits]))
    look, judge = (
        min(total, math.ceil(wanted / max(1.0, nodes)))
        for wanted in (NODES_TO_LOOK, NODES_TO_JUDGE)
    )
    return [look, judge, max(judge, math.ceil(total / 2)), total]


@dataclass(eq=False)
class Search:
    """The state of a search; what is in it is usable at any moment, Ctrl-C included.

    ``score_name`` is that of the score in the records of the runs. With the ``size`` of the graph
    trainings that do not fit into the time are not begun.
    """

    trainer: SplitTrainer
    score: Score
    clock: Clock
    score_name: str = ""
    max_trials: int | None = None
    progress: Callable[[], None] | None = None
    size: WorkSize | None = None
    trials: list[Trial] = field(default_factory=list)
    left_out: tuple[Family, ...] = ()

    def __post_init__(self) -> None:
        """Begin with one replica for each worker: how long a training takes is not known."""
        self._workers = self.trainer.workers or usable_cores()
        self._batch = self._workers
        self._speed = Speed()
        self._is_warm = False  # the first trainings carry the time of the diagnosis
        self.margin = max(NEAR, 1.5 * self.noise(self.rungs()[1]))

    def run(self, candidates: Mapping[Family, Iterable[Candidate]]) -> list[Trial]:
        """Return the finalists, best first: each trained on every split.

        One training for each worker is done in any case. The leader comes before all others; when
        the time does not allow to train it on every split, finalists are those on as many as it.
        """
        rungs = self.rungs()
        alive = self._first_rung(Proposals(candidates, margin=self.margin), *rungs[:2])
        for rung, count in enumerate(rungs[2:], start=1):
            kept = min(MAX_KEPT, math.ceil(len(alive) / KEEP))
            alive = self._survivors(alive, count=max(MIN_KEPT, kept))
            until = self._part(SHARES[min(rung, len(SHARES) - 1)])
            for trial in leaders_first(alive, self.margin) if alive else []:
                # what the time does not allow is left out
                needed = [(trial, split, 0) for split in range(trial.splits, count)]
                is_best = trial is alive[0]
                self.train(needed, until=self._end(trial) if is_best else until)
                if alive[0].splits < count and not alive[0].has_diverged:
                    break
            alive = self._beside_leader(alive)
        return self._survivors(alive, count=len(alive))

    def _beside_leader(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return the leader, and the trials on as many splits as it."""
        usable = [trial for trial in trials if trial.mean > -math.inf]
        if not usable:
            return []
        leader = leader_of(usable, self.margin)
        return [trial for trial in usable if trial.splits == leader.splits]

    def _end(self, trial: Trial) -> float:
        """Return until when the best candidate is trained: on every split, if that is short."""
        waiting = len(self.trainer.splits) - trial.splits
        most = max(OVERTIME * self.clock.seconds, OVERTIME_SECONDS)
        return math.inf if waiting * self.seconds(trial.candidate) <= most else 1.0

    def _first_rung(self, proposals: Proposals, look: int, judge: int) -> list[Trial]:
        """Try candidates: all on a few splits, those that are not far behind on more.

        Nothing is trained on more splits before every family had its first chance.
        """
        at_once = max(1, self._workers // look)
        alive: list[Trial] = []
        best, since, is_first_round = -math.inf, 0, True
        while not self._has_enough(proposals, best, since):
            trials = self._drawn(proposals, at_once)
            if is_first_round and not proposals.is_first_round:
                is_first_round = False
            if not trials:
                break
            first = not self.trials
            self.trials += trials
            tasks = [(trial, split, 0) for trial in trials for split in range(look)]
            sure = self._workers if first else 0
            self.train(tasks[:sure], until=math.inf)
            self.train(tasks[sure:], until=1.0)
            alive += trials
            if not is_first_round:
                self._judge(alive, look, judge)
            leader = leader_of(alive, self.margin)
            for trial in trials:
                score = leader.mean - trial.behind(leader) if trial.scores else -math.inf
                proposals.report(
                    trial.candidate, score=score, seconds=trial.seconds, is_cut=trial.is_cut
                )
                since = 0 if score > best + 0.1 * self.margin else since + 1
                best = max(best, score)
            alive = self._survivors(alive, count=MAX_KEPT)
        alive += self._longer(alive, look)
        # a first round may have used all its time: rivals of the leader still get some
        self._judge(alive, look, judge, until=self._part(SHARES[2]))
        if best < EXACT and self.max_trials is None:
            self.left_out = tuple(f for f in proposals.untried if f.turn_of is None)
        return self._beside_leader(alive)

    def _part(self, share: float) -> float:
        """Return a share of the time, or that after a third of what is left, whichever is later."""
        passed = min(1.0, self.clock.share)
        return max(share, passed + (1.0 - passed) / 3)

    def _ends_first_round(self) -> float:
        """Return the share of the time at which the first round ends, whoever is left."""
        earliest, latest = FIRST_ROUND
        usable = [trial for trial in self.trials if trial.mean > -math.inf]
        if not usable:
            return latest
        leader = max(usable, key=lambda trial: trial.mean)
        look, total = self.rungs()[0], len(self.trainer.splits)
        longer = self._lengthened(leader.candidate, look) if leader.is_cut else None
        trainings = 2 * total - (len(leader.scores) if longer is None else 0)
        each = self.seconds(longer or leader.candidate) / self._workers
        needed = trainings * each / self.clock.seconds
        return min(latest, max(earliest, 1.0 - needed))

    def _longer(self, alive: Sequence[Trial], look: int) -> list[Trial]:
        """Train the leaders whose first trainings were cut off for longer, best first.

        As long as half of the time that is left allows; the short ones stay among the candidates.
        """
        found: list[Trial] = []
        usable = [trial for trial in alive if trial.mean > -math.inf]
        ordered = sorted(usable, key=lambda trial: (-trial.splits, -trial.mean))
        for trial in leaders(ordered, self.margin) if ordered else []:
            if not trial.is_cut or self.clock.share > LONGER:
                continue
            mine = [t for t in self.trials if t.candidate.family is trial.candidate.family]
            candidate = self._lengthened(trial.candidate, look)
            if candidate is None or candidate.settings in [t.candidate.settings for t in mine]:
                continue
            longer = Trial(candidate)
            self.train([(longer, split, 0) for split in range(look)], until=1.0)
            if longer.splits == look:
                found.append(longer)
                self.trials.append(longer)
        return found

    def _lengthened(self, candidate: Candidate, look: int) -> Candidate | None:
        """Return a candidate with a longer training that fits into half of the time left."""
        settings = {k: v for k, v in candidate.settings.items() if k != "max_epochs"}
        longer = [n for n in SHORTENED if n > candidate.settings["max_epochs"]]
        for more in ({}, *({"max_epochs": count} for count in longer)):
            wanted = Candidate(candidate.family, {**settings, **more})
            if look * self.seconds(wanted) <= self.clock.left / 2:
                return wanted
        return None

    def _judge(
        self, alive: Sequence[Trial], look: int, judge: int, *, until: float = SHARES[1]
    ) -> None:
        """Train trials on more splits, best first, unless they are far behind the leader.

        When there is no time for the leader, there is none for the others.
        """
        usable = [trial for trial in alive if trial.mean > -math.inf]
        for trial in sorted(usable, key=lambda trial: -trial.mean):
            leader = leader_of(usable, self.margin)
            if trial.behind(leader) <= NEAR + self.noise(look):
                more = [(trial, split, 0) for split in range(trial.splits, judge)]
                self.train(more, until=until if trial is not leader else 1.0)
            if trial is leader and leader.splits < judge and not leader.has_diverged:
                break

    def _has_enough(self, proposals: Proposals, best: float, since: int) -> bool:
        if not self.trials:
            return False
        if best >= EXACT and proposals.tried_families >= ENOUGH_FAMILIES:
            return True
        if proposals.is_first_round:
            return self.clock.share > self._ends_first_round()
        is_told = proposals.strong_are_tried or self.margin > TOO_NOISY
        is_flat = since >= PLATEAU and is_told
        return is_flat or self.clock.share > SHARES[0]

    def _drawn(self, proposals: Proposals, count: int) -> list[Trial]:
        """Draw candidates for which there is time."""
        found: list[Trial] = []
        if self.max_trials is not None:
            count = min(count, self.max_trials - len(self.trials))
        while len(found) < count:
            candidate = proposals.next()
            if candidate is None:
                break
            if (self.trials or found) and self.seconds(candidate) > self.clock.left / 2:
                proposals.pass_over(candidate)
                continue
            found.append(Trial(candidate))
        return found

    def seconds(self, candidate: Candidate) -> float:
        """Return how long one training is expected to take on this machine; 0 if not known."""
        if self.size is None:
            return 0.0
        return candidate.seconds(self.size) * self._speed.factor(candidate.family.label)

    def rungs(self) -> list[int]:
        """Return on how many splits candidates are trained, rung by rung."""
        return rungs_of(self.trainer.splits)

    def noise(self, splits: int) -> float:
        """Return how far chance may move a score on the validation nodes of the first splits.

        Half a standard deviation of a coin over the root of the nodes; of the rarest class when
        the score is by class.
        """
        labels = self.trainer.graph.labels
        seen = np.zeros(labels.size, np.bool_)
        for number in range(splits):
            seen |= self.trainer.splits[number].validation
        counts = np.bincount(labels[seen & (labels >= 0)])
        counts = counts[counts > 0]
        if not counts.size:
            return 0.5
        nodes = int(counts.sum())
        if self.score_name not in ("", "accuracy"):
            nodes = min(nodes, 4 * int(counts.min()))
        return float(min(0.1, 0.5 / math.sqrt(nodes)))

    def add_seeds(self, finalists: Sequence[Trial], *, seeds: int) -> None:
        """Train finalists again with other seeds, all of them once before any of them twice."""
        splits = range(len(self.trainer.splits))
        for seed in range(1, seeds):
            for trial in finalists:
                if self.clock.share > 1.0:
                    return
                self.train([(trial, split, seed) for split in splits], until=1.0)

    def train(self, tasks: Sequence[tuple[Trial, int, int]], *, until: float) -> None:
        """Train tasks in small batches while less than ``until`` of the time has passed.

        A training that is expected to take longer than the time that is left is not begun.
        """
        waiting = list(tasks)
        while waiting and self.clock.share <= until:
            batch, waiting = waiting[: self._batch], waiting[self._batch :]
            if until <= 1.0:
                left = self.clock.left
                batch = [task for task in batch if self.seconds(task[0].candidate) <= left]
                if not batch:
                    continue
            wanted: list[Task] = [(trial.candidate, split, seed) for trial, split, seed in batch]
            start = self.clock.now()
            done = self.trainer.train(wanted)
            for (trial, split, seed), task in zip(batch, wanted, strict=True):
                self._take(trial, split, seed, done[task])
            self._is_warm = True
            each = (self.clock.now() - start) / len(batch)
            self._batch = max(self._workers, int(_LOOK / max(each, _LOOK / _BATCH)))
            if self.progress is not None:
                self.progress()

    def _take(self, trial: Trial, split: int, seed: int, member: Member | None) -> None:
        if member is None:
            trial.has_diverged |= seed == 0
            return
        if self.size is not None and self._is_warm:
            expected = trial.candidate.seconds(self.size)
            label = trial.candidate.family.label
            self._speed.report(label, expected=expected, took=member.seconds)
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
        ordered = sorted(usable, key=lambda trial: (-trial.splits, -trial.mean))
        near = leaders(ordered, self.margin) if ordered else []
        kept = [trial for place, trial in enumerate(ordered) if place < count or trial in near]
        for trial in set(ordered) - set(kept):
            trial.forget()
        return kept
