"""Planning: from a model, a recipe, a graph and splits to runs with keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from heterophily.batches.prepare import traits_of
from heterophily.channels.rows import AnyGraph
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import DRAWS, Split, SplitBatch
from heterophily.errors import InputError
from heterophily.evaluation.split_rules import (
    SPLIT_RULES,
    number_of_runs,
    split_remarks,
    splits_of,
)
from heterophily.layers.inputs import GraphTraits
from heterophily.learning.seeding import replica_seed
from heterophily.models.spec import ModelSpec
from heterophily.paper.presets import Recipe
from heterophily.paper.printed import SAME_MODEL
from heterophily.runs.engines import engine_for
from heterophily.runs.model import name_of, resolved, spec_with
from heterophily.runs.run import GraphRef, Run, SplitRef, split_digest
from heterophily.runs.sources import Sources
from heterophily.training.config import TrainConfig

_UNEQUAL = (
    "rows of features differ much in size, which may tell something: they stay as they are "
    "(option row_normalize=true divides each by its sum, as the paper does)"
)


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
    device: str = "cpu"
    rows_by_data: bool = False  # rows of counts that differ much in size stay as they are
    sources: Sources = field(default_factory=Sources)
    remarks: dict[str, None] = field(default_factory=dict)  # on the splits; in order, each once
    notes: dict[str, None] = field(default_factory=dict)  # why torch trains; in order, each once
    _traits: dict[str, GraphTraits] = field(default_factory=dict)
    _opened: dict[Any, tuple[GraphRef, list[SplitRef]]] = field(default_factory=dict)

    def runs(
        self, model: str | ModelSpec, graph: str | Graph, recipe: Recipe, rule: str
    ) -> list[Run]:
        """Return the runs of a recipe, one per split of a rule."""
        if isinstance(model, str):
            model = SAME_MODEL.get(model, model)
        known = spec_with(model, {})
        # The paper's tables print settings that some models have no use for.
        options = {key: value for key, value in recipe.options.items() if known.accepts(key)}
        reference, splits = self._graph(graph, recipe.graph, rule)
        seeds = [replica_seed(self.seed, number) for number in range(len(splits))]
        return self.runs_of(model, options, recipe.config, reference, splits, seeds)

    def runs_on(
        self,
        model: str | ModelSpec,
        options: Mapping[str, Any],
        config: TrainConfig,
        graph: AnyGraph,
        splits: Sequence[Split],
        *,
        rule: str,
        seeds: Sequence[int],
        drawn_by: int | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[Run]:
        """Return runs on splits that are at hand: run i on split i with seed i.

        ``rule`` is what stored runs call the splits, ``drawn_by`` the seed that drew them,
        ``numbers`` their indices, by default 0, 1, ...
        """
        reference = GraphRef(graph.name, graph.content_hash)
        self.sources.graphs[reference.content_hash] = opener_of(graph)
        self._note(graph)
        references = []
        for number, split in zip(numbers or range(len(splits)), splits, strict=True):
            name = split_digest(split)
            self.sources.splits[name] = split
            references.append(SplitRef(rule, number, drawn_by, name))
        return self.runs_of(model, options, config, reference, references, seeds)

    def runs_of(
        self,
        model: str | ModelSpec,
        options: Mapping[str, Any],
        config: TrainConfig,
        graph: GraphRef,
        splits: Sequence[SplitRef],
        seeds: Sequence[int],
    ) -> list[Run]:
        """Return runs on a graph and splits that the sources know."""
        options = self.decided(model, options, graph.content_hash)
        spec, name = spec_with(model, options), name_of(model)
        spec = spec.given(self._traits[graph.content_hash]) if spec.inputs.open_names else spec
        kept = {k: value for k, value in options.items() if k not in ("features", "edge_types")}
        if spec.inputs.features != "counts":  # records of the time before that option have none
            kept["features"] = spec.inputs.features
        if spec.inputs.edge_types:
            kept["edge_types"] = spec.inputs.edge_types
        described = resolved(model, spec)
        if not isinstance(model, str):
            self.sources.add_model(described, spec)
        try:
            engine, note = engine_for(spec, self.engine, device=self.device, config=config)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if note:
            self.notes[note] = None
        return [
            Run(
                model=name,
                options=kept,
                config=config.to_dict(),
                graph=graph,
                split=split,
                seed=seed,
                resolved=described,
                engine=engine,
                device=self.device,
                sources=self.sources,
            )
            for split, seed in zip(splits, seeds, strict=True)
        ]

    def decided(
        self, model: str | ModelSpec, options: Mapping[str, Any], content_hash: str
    ) -> Mapping[str, Any]:
        """Return the options with what the rows of the features decide, if it is left to them."""
        inputs = spec_with(model, options).inputs
        is_left = "row_normalize" not in options and inputs.features == "auto"
        if not (self.rows_by_data and is_left and inputs.row_normalize):
            return options
        if not self._traits[content_hash].has_unequal_rows:
            return options
        self.remarks[_UNEQUAL] = None
        return {**options, "row_normalize": False}

    def test_to_train(self, runs: Sequence[Run]) -> float:
        """Return the size of the test sets over that of the training sets."""
        sizes = [split.sizes for split in self.splits_of_runs(runs)]
        return sum(size[2] for size in sizes) / sum(size[0] for size in sizes)

    def graph_of(self, run: Run) -> Graph:
        """Return the graph of a planned run; the last one is kept."""
        return self.sources.graph(run)

    def splits_of_runs(self, runs: Sequence[Run]) -> list[Split]:
        """Return the splits of planned runs."""
        return [self.sources.split(run) for run in runs]

    def _graph(
        self, graph: str | Graph, options: Mapping[str, Any], rule: str
    ) -> tuple[GraphRef, list[SplitRef]]:
        place = graph if isinstance(graph, str) else id(graph)
        known = (place, tuple(sorted(options.items())), rule)
        if known not in self._opened:
            opener: Callable[[], Graph]
            if isinstance(graph, Graph):
                opener = partial(_held, graph)
            else:
                where: dict[str, Any] = {"data_folder": self.data_folder, "offline": self.offline}
                opener = partial(open_graph, graph, **where, **options)
            opened = opener()
            batch = self._batch(opened, graph, rule)
            self.remarks.update(dict.fromkeys(split_remarks(opened, batch, rule)))
            reference = GraphRef(opened.name, opened.content_hash)
            self.sources.graphs[reference.content_hash] = opener
            self._note(opened)
            self._opened[known] = (reference, self._references(batch, rule))
        return self._opened[known]

    def _note(self, graph: AnyGraph) -> None:
        """Keep a graph that was just opened, and what its features are."""
        self.sources.hold(graph)
        if graph.content_hash not in self._traits:
            self._traits[graph.content_hash] = traits_of(graph)

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
            self.sources.splits[name] = split
            seed = self.seed if rule in DRAWS else None
            references.append(SplitRef(SPLIT_RULES[rule].stored, number, seed, name))
        return references


def opener_of(graph: AnyGraph) -> Callable[[], AnyGraph]:
    """Return what opens a graph in this process or in a worker: one on disk is not sent there."""
    if isinstance(graph, DiskGraph):
        return partial(DiskGraph.open, graph.folder)
    return partial(_held, graph)


def _held(graph: Graph) -> Graph:
    return graph
