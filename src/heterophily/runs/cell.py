"""A cell: what the finished runs of one model on one graph say together. No torch here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from heterophily.evaluation.evaluate import ScoreValue
from heterophily.evaluation.intervals import TestSizes, score_interval
from heterophily.paper.printed import Published
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import NUMERICS

_TIE = 1e-9  # a value exactly one deviation away lies within, whatever the last bit says


@dataclass(frozen=True)
class BestByTest:
    """The best of some settings by mean test score; mean and deviation over the splits."""

    settings: Mapping[str, Any]
    of: int
    mean: float
    std: float

    @classmethod
    def among(
        cls, settings: Sequence[Mapping[str, Any]], tests: Sequence[Sequence[float | None]]
    ) -> BestByTest | None:
        """Return the best setting; ``tests`` has a score for each split. None if all diverged."""
        whole = [
            (setting, [score for score in scores if score is not None])
            for setting, scores in zip(settings, tests, strict=True)
            if None not in scores
        ]
        if not whole:
            return None
        setting, scores = max(whole, key=lambda pair: float(np.mean(pair[1])))
        return cls(dict(setting), len(settings), float(np.mean(scores)), float(np.std(scores)))


@dataclass(frozen=True)
class CellResult:
    """What the finished runs of one cell say; one entry per split, in the order of the splits.

    ``splits`` is the split rule by its stored name (``random`` is the paper's).
    ``test_to_train`` is the ratio of the sizes of these sets, for the paired tests.
    ``wanted`` is the number of runs that the cell is made of; ``remark`` says why there are none.
    Accuracies are fractions, ``std`` is divided by R as in the paper. ``seconds`` is the training
    time of all runs, ``versions`` ("torch 2.4.0") and ``finished`` (days) are those of any of them.
    ``numerics`` names the engine with the version of its numerics, for example "native 4".
    Where the records have them, ``scores`` and ``validation_scores`` are all scores by name, and
    ``confusion`` is the confusion matrix of all test sets together. ``test``, ``validation``,
    ``mean`` and ``std`` are of ``score``, by default the accuracy.
    ``by_test`` is the setting with the best mean on the *test* nodes, where every setting of a
    search has all its runs: what choosing on the test set would print. It is shown, never used.
    """

    row: str
    dataset: str
    splits: str
    wanted: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    test: tuple[float | None, ...] = ()
    validation: tuple[float | None, ...] = ()
    keys: tuple[str, ...] = ()
    epochs: float | None = None
    ms_per_epoch: float | None = None
    peak_memory_mb: float | None = None
    engine: str = ""
    numerics: tuple[str, ...] = ()
    test_to_train: float = 1 / 3
    published: Published | None = None
    published_ms: float | None = None
    seconds: float = 0.0
    versions: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    remark: str = ""
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    validation_scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    confusion: tuple[tuple[int, ...], ...] = ()
    score: str = "accuracy"
    by_test: BestByTest | None = None

    @classmethod
    def of(cls, records: Sequence[Record], *, score: str = "accuracy", **facts: Any) -> CellResult:
        """Sum up the records of a cell; ``test`` and ``validation`` are of the score."""
        ordered = sorted(records, key=lambda record: int(record.run["split"]["index"]))
        outcomes = [record.outcome for record in ordered]
        if not outcomes:
            return cls(score=score, **facts)
        epochs = [outcome.epochs for outcome in outcomes]
        return cls(
            test=tuple(outcome.value("test", score) for outcome in outcomes),
            validation=tuple(outcome.value("validation", score) for outcome in outcomes),
            score=score,
            keys=tuple(record.key for record in ordered),
            epochs=float(np.mean(epochs)),
            ms_per_epoch=1000 * sum(o.seconds for o in outcomes) / sum(epochs),
            engine=" and ".join(sorted({record.run["engine"] for record in ordered})),
            numerics=_distinct(f"{record.run['engine']} {record.numerics}" for record in ordered),
            peak_memory_mb=max(outcome.peak_memory_mb for outcome in outcomes),
            seconds=sum(outcome.seconds for outcome in outcomes),
            versions=_distinct(f"{k} {v}" for r in ordered for k, v in r.versions.items()),
            finished=_distinct(record.finished_at[:10] for record in ordered),
            scores=_scores(outcomes, "test"),
            validation_scores=_scores(outcomes, "validation"),
            confusion=_confusion(outcomes),
            **facts,
        )

    @property
    def earlier_numerics(self) -> tuple[str, ...]:
        """Those of ``numerics`` that are not today's."""
        today = {f"{engine} {version}" for engine, version in NUMERICS.items()}
        return tuple(name for name in self.numerics if name not in today)

    @property
    def is_complete(self) -> bool:
        """Whether every run of the cell is finished and has an accuracy."""
        return len(self.test) == self.wanted > 0 and None not in self.test

    @property
    def mean(self) -> float | None:
        """Mean test accuracy of the finished runs; None without any, or when one diverged."""
        if not self.test or None in self.test:
            return None
        return float(np.mean(self.test))  # type: ignore[arg-type]

    @property
    def std(self) -> float | None:
        """Standard deviation of the test accuracy, divided by R."""
        return None if self.mean is None else float(np.std(self.test))  # type: ignore[arg-type]

    @property
    def difference(self) -> float | None:
        """Ours minus theirs."""
        if self.mean is None or self.published is None:
            return None
        return self.mean - self.published.mean

    @property
    def is_within(self) -> bool | None:
        """Whether ours is within one published standard deviation; None if that is unknown."""
        return self.lies_within(1)

    def lies_within(self, deviations: float) -> bool | None:
        """Whether ours is within some published standard deviations; None if that is unknown."""
        if self.difference is None or self.published is None or self.published.std is None:
            return None
        return abs(self.difference) <= deviations * self.published.std + _TIE

    def test_by(self, score: str) -> tuple[float | None, ...] | None:
        """Return a score of the test nodes, one value per split; None if the records lack it."""
        return self.test if score == self.score else self.scores.get(score)

    def value_by(self, score: str, sizes: TestSizes | None) -> ScoreValue:
        """Return a score of the test nodes with its interval, NaN where a run has none."""
        values = tuple(math.nan if v is None else v for v in self.test_by(score) or ())
        if sizes is None:
            return ScoreValue(values)
        confusion = np.array(self.confusion) if self.confusion else None
        return ScoreValue(values, score_interval(score, values, sizes, confusion))

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain data; scores that the records lack are left out."""
        facts = ("is_complete", "mean", "std", "difference", "is_within")
        values = asdict(self)
        for name in ("scores", "validation_scores", "confusion"):
            if not values[name]:
                del values[name]
        if self.score == "accuracy":
            del values["score"]
        if self.by_test is None:
            del values["by_test"]
        return {**values, **{name: getattr(self, name) for name in facts}}


def _scores(outcomes: Sequence[Outcome], part: str) -> dict[str, tuple[float | None, ...]]:
    """Return the scores of a part by name, if every run has them."""
    found = [(outcome.scores or {}).get(part) for outcome in outcomes]
    if any(each is None for each in found):
        return {}
    known = [each for each in found if each is not None]
    return {name: tuple(each.get(name) for each in known) for name in known[0]}


def _confusion(outcomes: Sequence[Outcome]) -> tuple[tuple[int, ...], ...]:
    """Return the sum of the confusion matrices, if every run has one."""
    found: list[Any] = [(outcome.scores or {}).get("confusion") for outcome in outcomes]
    if any(each is None for each in found):
        return ()
    return tuple(tuple(map(int, row)) for row in np.sum(found, axis=0))


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))
