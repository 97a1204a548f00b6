"""A model on held-out test nodes, as one value: scores, intervals, classes, baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.data.remedies import remedy
from heterophily.data.splits import Split
from heterophily.evaluation.baselines import Baseline
from heterophily.evaluation.intervals import (
    Interval,
    TestSizes,
    hybrid_interval,
    mean_interval,
    paired_bootstrap,
    score_interval,
)
from heterophily.evaluation.per_class import ClassScore, class_scores, confusion_of
from heterophily.evaluation.scores import SCORE_TITLES, SCORES, Probabilities, score_for
from heterophily.evaluation.threshold import Threshold, choose_threshold

FEW_NODES = 100
"""On fewer test nodes of a single split a bootstrap is too narrow: the hybrid interval is used."""


@dataclass(frozen=True, eq=False)
class ScoreValue:
    """A score on the test nodes of each split; ``mean`` is None where one of them is undefined."""

    values: tuple[float, ...]
    interval: Interval | None = None

    @property
    def mean(self) -> float | None:
        """Mean over the splits; None when the score is undefined on one of them."""
        mean = float(np.mean(self.values)) if self.values else math.nan
        return mean if math.isfinite(mean) else None

    @property
    def std(self) -> float | None:
        """Standard deviation over the splits, divided by R; None without a mean."""
        return None if self.mean is None else float(np.std(self.values))

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> ScoreValue:
        """Return the value behind the plain data of :meth:`to_dict`."""
        bounds = found.get("interval")
        values = tuple(math.nan if value is None else float(value) for value in found["values"])
        return cls(values, None if bounds is None else Interval(bounds["low"], bounds["high"]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; an undefined value is None."""
        return {
            "mean": self.mean,
            "std": self.std,
            "values": [value if math.isfinite(value) else None for value in self.values],
            "interval": None if self.interval is None else self.interval.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Against:
    """A model against a baseline, by one score on the same test nodes.

    Parameters
    ----------
    name, title
        The baseline.
    score
        Name of the score.
    value
        The baseline's own score.
    difference, interval
        Mean of model minus baseline; None when either is undefined.
    splits, of_splits
        On how many of the splits the baseline stands.
    absence
        Why there is no such baseline; else empty.
    """

    name: str
    title: str
    score: str
    value: ScoreValue | None = None
    difference: float | None = None
    interval: Interval | None = None
    splits: int = 0
    of_splits: int = 0
    absence: str = ""

    @property
    def is_better(self) -> bool | None:
        """Whether the whole interval of the difference is above zero; None when unknown."""
        return None if self.interval is None else self.interval.low > 0

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Against:
        """Return the value behind the plain data of :meth:`to_dict`."""
        test, bounds = found["test"], found["interval"]
        kept = {name: found[name] for name in ("name", "title", "score", "difference")}
        kept |= {name: found[name] for name in ("splits", "of_splits", "absence")}
        return cls(
            **kept,
            value=None if test is None else ScoreValue.from_dict(test),
            interval=None if bounds is None else Interval(bounds["low"], bounds["high"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "score": self.score,
            "test": None if self.value is None else self.value.to_dict(),
            "difference": self.difference,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "is_better": self.is_better,
            "splits": self.splits,
            "of_splits": self.of_splits,
            "absence": self.absence,
        }


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A model on held-out test nodes.

    Parameters
    ----------
    score
        Name of the score by which models are compared on this graph.
    scores
        Every score by its name.
    sizes
        Numbers of test nodes.
    classes, confusion
        Each class, and (C, C) true class by predicted class, over the test nodes of all splits: a
        node that is tested in several splits counts in each.
    threshold
        Two classes: the threshold that validation nodes choose.
    baselines
        What costs nothing, beside the model.
    remarks
        What a reader of the scores must know, in words.
    """

    score: str
    scores: Mapping[str, ScoreValue]
    sizes: TestSizes
    classes: tuple[ClassScore, ...]
    confusion: NDArray[np.int64]
    threshold: Threshold | None = None
    baselines: tuple[Against, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def main(self) -> ScoreValue:
        """The score by which models are compared."""
        return self.scores[self.score]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = [found.name for found in self.classes]
        return {
            "score": self.score,
            "scores": {name: found.to_dict() for name, found in self.scores.items()},
            "test_nodes": self.sizes.nodes,
            "baselines": [found.to_dict() for found in self.baselines],
            "per_class": [found.to_dict() for found in self.classes],
            "confusion": self.confusion.tolist(),
            "threshold": None if self.threshold is None else self.threshold.to_dict(names),
        }


def evaluate(
    graph: Graph,
    splits: Sequence[Split],
    probabilities: Sequence[Probabilities],
    *,
    baselines: Sequence[Baseline] = (),
    score: str | None = None,
    with_threshold: bool = True,
) -> Evaluation:
    """Judge predicted probabilities on the test nodes of splits.

    Parameters
    ----------
    graph
        With the labels.
    splits, probabilities
        Splits, and for each of them (N, C) what a model that was trained on it says of all nodes.
    baselines
        Of :func:`~heterophily.evaluation.baselines.baselines`, on the same splits.
    score
        By which the model is compared with them; default :func:`score_for` the graph. When it is
        undefined on these test nodes, accuracy takes its place, and a remark says so.
    with_threshold
        Whether validation nodes choose a threshold when there are two classes.
    """
    truth = [graph.labels[split.test] for split in splits]
    votes = [found[split.test] for split, found in zip(splits, probabilities, strict=True)]
    sizes = TestSizes.of(graph.labels, splits)
    confusion = np.sum([confusion_of(*pair) for pair in zip(truth, votes, strict=True)], axis=0)
    scores = {}
    for name, function in SCORES.items():
        values = tuple(function(*pair) for pair in zip(truth, votes, strict=True))
        scores[name] = ScoreValue(values, score_interval(name, values, sizes, confusion))
    asked = score or score_for(graph.labels)
    remarks = undefined_remarks(scores, truth, graph.class_names)
    main = asked if scores[asked].mean is not None else "accuracy"
    if main != asked:
        remarks += (f"models are compared by accuracy here, not by {SCORE_TITLES[asked]}",)
    threshold = None
    if with_threshold:
        held = [
            (graph.labels[split.validation], found[split.validation])
            for split, found in zip(splits, probabilities, strict=True)
        ]
        threshold = choose_threshold(held, list(zip(truth, votes, strict=True)))
    return Evaluation(
        score=main,
        scores=scores,
        sizes=sizes,
        classes=class_scores(confusion, graph.class_names),
        confusion=confusion,
        threshold=threshold,
        baselines=tuple(
            _against(found, main, scores[main], graph.labels, splits, votes) for found in baselines
        ),
        remarks=remarks,
    )


def undefined_remarks(
    scores: Mapping[str, ScoreValue],
    truth: Sequence[NDArray[np.int64]],
    class_names: Sequence[str],
) -> tuple[str, ...]:
    """Say which scores are undefined, why, and what to do."""
    names = [SCORE_TITLES[name] for name, found in scores.items() if found.mean is None]
    single = [labels[0] for labels in truth if np.unique(labels).size == 1]
    if not names or not single:
        return ()
    classes = ", ".join(repr(str(class_names[k])) for k in sorted(set(single)))
    return (
        f"{' and '.join(names)} cannot be computed: the test nodes of {len(single)} of "
        f"{len(truth)} splits are all of class {classes}, so accuracy, balanced accuracy and "
        f"macro F1 say nothing about the other classes either; {remedy('random-splits')}, which "
        "test every class, or label more nodes",
    )


def _against(
    baseline: Baseline,
    score: str,
    mine: ScoreValue,
    labels: NDArray[np.int64],
    splits: Sequence[Split],
    votes: Sequence[Probabilities],
) -> Against:
    if baseline.absence:
        return Against(baseline.name, baseline.title, score, absence=baseline.absence)
    used = splits[: len(baseline.labels)]
    nodes = None
    if len(used) == 1:
        nodes = (baseline.labels[0], votes[0], baseline.probabilities[0])
    confusion = np.sum(
        [confusion_of(*p) for p in zip(baseline.labels, baseline.probabilities, strict=True)],
        axis=0,
    )
    return against(
        baseline,
        score,
        ScoreValue(mine.values[: len(used)], mine.interval),
        TestSizes.of(labels, used),
        confusion,
        nodes=nodes,
    )


def against_all(
    beside: Sequence[Baseline], score: str, mine: ScoreValue, sizes: TestSizes
) -> tuple[Against, ...]:
    """Compare the scores of a model, one per split, with those of several baselines."""
    return tuple(
        against(base, score, ScoreValue(mine.values[: len(base.labels)], mine.interval), sizes)
        for base in beside
    )


def against(
    baseline: Baseline,
    score: str,
    mine: ScoreValue,
    sizes: TestSizes,
    confusion: NDArray[np.int64] | None = None,
    *,
    nodes: tuple[NDArray[np.int64], Probabilities, Probabilities] | None = None,
) -> Against:
    """Compare the scores of a model with a baseline's on the same splits.

    Over several splits the interval of the difference is the corrected resampled t interval; on a
    single one, with ``nodes`` (labels, probabilities of the model and of the baseline), a paired
    bootstrap over the test nodes. When these have no width to go by, on few nodes or when all
    splits differ equally, the hybrid of both intervals takes their place.
    """
    if baseline.absence:
        return Against(baseline.name, baseline.title, score, absence=baseline.absence)
    values = baseline.scores(score)
    theirs = ScoreValue(values, score_interval(score, values, sizes, confusion))
    difference, interval = None, None
    if mine.mean is not None and theirs.mean is not None:
        gaps = [a - b for a, b in zip(mine.values, values, strict=True)]
        difference = float(np.mean(gaps))
        if len(gaps) > 1 and np.ptp(gaps) > 1e-12:
            interval = mean_interval(gaps, test_to_train=sizes.test_to_train)
        elif len(gaps) == 1 and nodes is not None and sizes.nodes >= FEW_NODES:
            interval = paired_bootstrap(score, *nodes)
        elif mine.interval is not None and theirs.interval is not None:
            interval = hybrid_interval(mine.mean, theirs.mean, mine.interval, theirs.interval)
    return Against(
        name=baseline.name,
        title=baseline.title,
        score=score,
        value=theirs,
        difference=difference,
        interval=interval,
        splits=len(values),
        of_splits=baseline.of_splits,
    )
