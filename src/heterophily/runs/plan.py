"""Planning: from a model, a recipe, a graph and splits to runs with keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import DRAWS, Split, SplitBatch, random_splits
from heterophily.errors import InputError
from heterophily.experiments.paper import SAME_MODEL
from heterophily.experiments.presets import Recipe
from heterophily.experiments.train import option_values, spec_with
from heterophily.layers.feature_scaling import FeatureKind, feature_kind
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec
from heterophily.runs.job import Job
from heterophily.runs.record import GraphRef, Run, SplitRef, command_line, split_digest
from heterophily.runs.split_rules import (
    SPLIT_RULES,
    number_of_runs,
    split_remarks,
    splits_of,
)
from heterophily.runs.stores.base import Store
from heterophily.training.config import TrainConfig
from heterophily.training.replicas import Replica, fit_replicas
from heterophily.training.seeding import replica_seed


@dataclass(eq=False)
class Planner:
    """Turns (model, recipe, graph, splits) into runs, and remembers what workers need for them.

    Split i and the seed of replica i follow from (seed, i), as in ``heterophily train``: every
    model and setting sees the same splits, so that their results can be compared in pairs.
    """

    seed: int = 0
    repeats: int | None = None
    data_folder: str | Path | None = None
    offline: bool = False
    engine: str = "auto"
    graphs: dict[str, Callable[[], Graph]] = field(default_factory=dict)
    splits: dict[str, Split] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)  # on the splits; in order, each once
    _last: Graph | None = None
    _opened: dict[Any, tuple[GraphRef, list[SplitRef], FeatureKind]] = field(default_factory=dict)

    def runs(self, model: str, graph: str | Graph, recipe: Recipe, rule: str) -> list[Run]:
        """Return the runs of a recipe, one per split."""
        model = SAME_MODEL.get(model, model)
        known = MODELS[model]
        # The paper's tables print settings that some models have no use for.
        options = {key: value for key, value in recipe.options.items() if known.accepts(key)}
        reference, splits, kind = self._graph(graph, recipe.graph, rule)
        if options.get("features", "auto") == "auto":
            options = {**options, "features": kind}
        spec = spec_with(model, options)
        if options["features"] == "counts":
            del options["features"]  # records of the time before that option have none
        resolved = {
            "network": spec.network.__name__,
            "options": type(spec.options).__name__,
            **option_values(spec),
        }
        try:
            engine = engine_for(spec, self.engine)
        except InputError as error:
            raise InputError(f"{model}: {error}") from None
        config = recipe.config.to_dict()
        return [
            Run(
                model=model,
                options=options,
                config=config,
                graph=reference,
                split=split,
                seed=replica_seed(self.seed, number),
                resolved=resolved,
                engine=engine,
            )
            for number, split in enumerate(splits)
        ]

    def test_to_train(self, runs: Sequence[Run]) -> float:
        """Return the size of the test sets over that of the training sets."""
        sizes = [split.sizes for split in self.splits_of_runs(runs)]
        return sum(size[2] for size in sizes) / sum(size[0] for size in sizes)

    def graph_of(self, run: Run) -> Graph:
        """Return the graph of a planned run; the last one is kept."""
        if self._last is None or self._last.content_hash != run.graph.content_hash:
            self._last = self.graphs[run.graph.content_hash]()
        return self._last

    def splits_of_runs(self, runs: Sequence[Run]) -> list[Split]:
        """Return the splits of planned runs."""
        return [self.splits[run.split.digest] for run in runs]

    def job(self, store: Store) -> Job:
        """Return what a worker needs for the runs that were planned."""
        return Job(store.url, self.graphs, self.splits, command_line())

    def _graph(
        self, graph: str | Graph, options: Mapping[str, Any], rule: str
    ) -> tuple[GraphRef, list[SplitRef], FeatureKind]:
        place = graph if isinstance(graph, str) else id(graph)
        known = (place, tuple(sorted(options.items())), rule)
        if known not in self._opened:
            opener: Callable[[], Graph]
            if isinstance(graph, Graph):
                opener = partial(_held, graph)
            else:
                where: dict[str, Any] = {"data_folder": self.data_folder, "offline": self.offline}
                opener = partial(open_graph, graph, **where, **options)
            opened = self._last = opener()
            batch = self._batch(opened, graph, rule)
            self.remarks.update(dict.fromkeys(split_remarks(opened, batch, rule)))
            reference = GraphRef(opened.name, opened.content_hash)
            self.graphs[reference.content_hash] = opener
            found = reference, self._references(batch, rule), feature_kind(opened)
            self._opened[known] = found
        return self._opened[known]

    def _batch(self, opened: Graph, graph: str | Graph, rule: str) -> SplitBatch:
        return splits_of(
            opened,
            rule,
            repeats=self.repeats,
            seed=self.seed,
            dataset=graph if isinstance(graph, str) else None,
            data_folder=self.data_folder,
            offline=self.offline,
        )

    def _references(self, batch: SplitBatch, rule: str) -> list[SplitRef]:
        count = number_of_runs(rule, batch, self.repeats)
        if rule == "fixed":
            count = min(count, len(batch))  # --repeats cuts a piece out, it adds no splits
        references = []
        for number in range(count):
            split = batch[number % len(batch)]
            name = split_digest(split)
            self.splits[name] = split
            seed = self.seed if rule in DRAWS else None
            references.append(SplitRef(SPLIT_RULES[rule].stored, number, seed, name))
        return references


def _held(graph: Graph) -> Graph:
    return graph


@cache
def engine_for(spec: ModelSpec, asked: str) -> str:
    """Return the engine that trains a model: which one ``auto`` takes is found by one epoch.

    A run names its engine, because the roundings and dropout masks of the two differ.
    """
    if asked == "torch":
        return asked
    ring = Graph.from_edges(range(12), [*range(1, 12), 0], labels=[0, 1, 2] * 4)
    inputs = GraphInputs.from_graph(ring, spec.inputs)
    build = partial(spec.build, num_nodes=12, num_features=12, num_classes=3)
    split = random_splits(ring.labels, repeats=1, seed=0)[0]
    replica = Replica(build, split, TrainConfig(max_epochs=1), 0)
    results = fit_replicas(
        [replica], inputs, ring.labels, workers=1, keep_state=False, engine=asked
    )
    return results.engine
