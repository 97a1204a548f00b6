"""What training over many splits gives: accuracies, cost, and the published number beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from heterophily.channels.channels import Channels
from heterophily.channels.columns import FeaturePanels, FeatureScale
from heterophily.channels.rows import AnyGraph
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.evaluate import Evaluation, evaluate
from heterophily.learning.result import softmax
from heterophily.paper.printed import Published
from heterophily.training.replica import FitResults


@dataclass(frozen=True, eq=False)
class TrainReport:
    """What ``train`` returns: results of all splits, settings, and the published number.

    ``std`` is the population standard deviation over the splits (divided by R, as in the
    authors' program and hence the paper), not R - 1. ``source`` is the graph itself.
    """

    model: str
    graph: str
    split_rule: str
    splits: SplitBatch
    hyperparameters: Mapping[str, Any]
    results: FitResults
    published: Published | None
    remarks: tuple[str, ...] = ()
    source: AnyGraph | None = None

    @property
    def test_accuracy(self) -> dict[str, Any]:
        """Mean, std and values of the test accuracy, fractions."""
        return _spread([result.test_accuracy for result in self.results])

    @property
    def validation_accuracy(self) -> dict[str, Any]:
        """Mean, std and values of the validation accuracy at the same epochs."""
        return _spread([result.validation_accuracy for result in self.results])

    @cached_property
    def evaluation(self) -> Evaluation:
        """Every score on the test nodes, with intervals, classes, threshold and baselines.

        Computed when first asked for: the baselines take a moment. A model is not compared with
        the baseline of its own kind.
        """
        if self.source is None or any(result.logits is None for result in self.results):
            raise InputError("the evaluation needs predictions: train with keep_state=True")
        numbers = [n % len(self.splits) for n in sorted(self.results.by_replica)]
        distinct = list(dict.fromkeys(numbers))
        source = judged_graph(self.source)
        found = baselines(source, [self.splits[number] for number in distinct])
        found = tuple(base for base in found if base.name != self.model)
        return evaluate(
            source,
            [self.splits[number] for number in numbers],
            [softmax(r.logits) for r in self.results if r.logits is not None],
            baselines=[base.repeated([distinct.index(n) for n in numbers]) for base in found],
        )

    @property
    def epochs(self) -> float:
        """Mean number of epochs of a split."""
        return float(np.mean([result.epochs for result in self.results]))

    @property
    def ms_per_epoch(self) -> float:
        """Wall milliseconds of one epoch, over all epochs of all splits."""
        seconds = sum(result.seconds for result in self.results)
        return 1000 * seconds / sum(result.epochs for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, ready for JSON."""
        published = None
        if self.published is not None:
            difference = self.test_accuracy["mean"] - self.published.mean
            published = {**asdict(self.published), "difference": difference}
        return {
            "model": self.model,
            "graph": self.graph,
            "split_rule": self.split_rule,
            "hyperparameters": dict(self.hyperparameters),
            "test_accuracy": self.test_accuracy,
            "validation_accuracy": self.validation_accuracy,
            "epochs": self.epochs,
            "ms_per_epoch": self.ms_per_epoch,
            "peak_memory_mb": max(result.peak_memory_mb for result in self.results),
            "published": published,
        }


@dataclass(frozen=True, eq=False)
class _DiskRows:
    """Features of a graph on disk, read by rows: what trees need of them."""

    channels: Channels

    @property
    def shape(self) -> tuple[int, int]:
        return self.channels.num_nodes, self.channels.num_columns

    def __getitem__(self, rows: Any) -> Any:
        found = self.channels.rows(["own"], rows)[0]
        self.channels.release()
        return found


def judged_graph(graph: AnyGraph) -> Graph:
    """Return a graph as the evaluation wants it: of one on disk, labels and rows of features."""
    if not isinstance(graph, DiskGraph):
        return graph
    panels = FeaturePanels(graph)
    known = Channels(
        graph.num_nodes,
        graph.num_features,
        panels.stored(FeatureScale()),
        {},
        np.zeros(0, np.int64),
        FeatureScale(),
    )
    facts = SimpleNamespace(
        name=graph.name,
        labels=np.asarray(graph.labels, np.int64),
        class_names=graph.class_names,
        num_classes=graph.num_classes,
        num_features=graph.num_features,
        features=_DiskRows(known),
    )
    return cast(Graph, facts)


def _spread(values: Sequence[float]) -> dict[str, Any]:
    return {"mean": float(np.mean(values)), "std": float(np.std(values)), "values": list(values)}
