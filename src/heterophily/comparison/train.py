"""Train a model on a graph over many splits: where models, data and training meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.batches.prepare import traits_of
from heterophily.channels.rows import AnyGraph
from heterophily.comparison.train_report import TrainReport
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.splits import DRAWS, SplitBatch
from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import (
    GIVEN,
    SPLIT_RULES,
    check_graph,
    default_rule,
    number_of_runs,
    split_remarks,
    splits_of,
)
from heterophily.learning.progress import Progress
from heterophily.learning.seeding import replica_seed
from heterophily.models.catalog import MODELS
from heterophily.paper.presets import Recipe, SettingRule, recipe
from heterophily.paper.printed import DEEZER, Published
from heterophily.paper.published_tables import published_accuracy
from heterophily.runs.complete import Completion, complete, counted
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import this_machine
from heterophily.runs.model import check_model, name_of, option_values, spec_with
from heterophily.runs.plan import Planner
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.training.config import TrainConfig
from heterophily.training.device import as_device
from heterophily.training.replica import FitResults

if TYPE_CHECKING:
    from heterophily.models.spec import ModelSpec


def train(
    model: str | ModelSpec,
    graph: GraphLike,
    *,
    splits: str | SplitBatch = "random",
    repeats: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    config: TrainConfig | None = None,
    workers: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    keep_state: bool = True,
    engine: str = "auto",
    store: Store | None = None,
    executor: Executor | None = None,
    rows_by_data: bool = True,
) -> TrainReport:
    """Train a model on many splits of a graph and report how good it is on test nodes.

    Parameters
    ----------
    model
        Name in :data:`heterophily.models.catalog.MODELS`, or a spec of your own (for a PyG module:
        :func:`heterophily.pyg_model`).
    graph
        The graph, in any form that :func:`heterophily.as_graph` takes; at least two classes must be
        labelled.
    splits
        A split rule or splits of your own. ``"random"``: 60/20/20 draws from (seed, index), every
        class in training, validation and test; ``"fixed"``: those of the graph;
        ``"paper-random"``: the paper's rule, which leaves small classes untested.
    repeats
        Number of replicas. Replica i trains on split i (modulo their number) with its own seed.
        Default: 10 random splits, or each fixed split once, or the public split 10 times.
    seed
        From which the splits and the seeds of all replicas follow.
    options
        Changed options of the model and its inputs, for example ``{"hidden": 32}``.
    config, workers, device, progress, keep_state
        See :class:`TrainConfig` and :func:`fit_replicas`. Without ``keep_state`` the results
        hold no parameters.
    engine
        ``"auto"``: the native engine where it covers the model, else torch, and the report says
        why; ``"native"`` or ``"torch"``: that one.
    store
        Where finished trainings are looked for and kept, with parameters and logits beside them;
        by default they are this call's alone.
    executor
        Where to train; by default this machine, with ``workers``.
    rows_by_data
        Whether rows of counts that differ much in size stay as they are
        (:func:`~heterophily.layers.feature_scaling.has_unequal_rows`); ``False``: they are divided
        by their sum as in the paper, unless ``options`` say otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.arange(40) % 2
    >>> ring = Graph.from_edges(np.arange(40), (np.arange(40) + 1) % 40, labels=labels)
    >>> report = train("acm-gcn", ring, repeats=2, config=TrainConfig(max_epochs=20), workers=1)
    >>> report.split_rule, len(report.results)
    ('random', 2)
    """
    check_model(model)
    graph = graph if isinstance(graph, DiskGraph) else as_graph(graph)
    config = config or TrainConfig()
    _check_batches(graph, config)
    as_device(device)
    rule, batch = _chosen(splits, graph, repeats, seed)
    count = number_of_runs(rule, batch, repeats)
    planner = Planner(seed=seed, engine=engine, device=device, rows_by_data=rows_by_data)
    runs = planner.runs_on(
        model,
        options or {},
        config,
        graph,
        [batch[number % len(batch)] for number in range(count)],
        rule=SPLIT_RULES[rule].stored if rule in SPLIT_RULES else rule,
        seeds=[replica_seed(seed, number) for number in range(count)],
        drawn_by=seed if rule in DRAWS else None,
    )
    results = _trained(
        runs, store, executor or this_machine(workers), progress, keep_state=keep_state
    )
    _check_results(results, count, config)
    name = name_of(model)
    return TrainReport(
        model=name,
        graph=graph.name,
        split_rule=rule,
        splits=batch,
        hyperparameters={
            **asdict(config),
            **option_values(
                spec_with(model, planner.decided(model, options or {}, graph.content_hash)).given(
                    traits_of(graph)
                )
            ),
            "seed": seed,
        },
        results=results,
        published=_published(name, graph.name, rule),
        remarks=(
            *split_remarks(graph, batch, rule),
            *(planner.sources.inputs(runs[0]).remarks if config.batches == "full" else ()),
            *planner.remarks,
            *planner.notes,
            *_remarks(results, count),
            *_beside_the_paper(name, graph.name, rule),
        ),
        source=graph,
    )


def _check_batches(graph: AnyGraph, config: TrainConfig) -> None:
    """Refuse a graph on disk where every step sees the whole graph."""
    if isinstance(graph, DiskGraph) and config.batches == "full":
        raise InputError(
            f"{graph.name} is a graph on disk: train it by mini-batches, "
            "TrainConfig(batches='channels') or 'sampled', or read it with graph.to_graph()"
        )


def _trained(
    runs: Sequence[Run],
    store: Store | None,
    executor: Executor,
    progress: Progress | None,
    *,
    keep_state: bool,
) -> FitResults:
    """Complete runs and return their results by number; after Ctrl-C, those that are finished."""
    kinds = ("history", "logits", "state") if keep_state else ("history", "logits")
    watch = None if progress is None else counted(progress)
    with ExitStack() as stack:
        kept_in = stack.enter_context(MemoryStore()) if store is None else store
        interrupted = False
        done = Completion(tuple(runs), kept_in)
        try:
            done = complete(runs, store=kept_in, executor=executor, keep=kinds, watch=watch)
        except KeyboardInterrupt:
            interrupted = True
        records = done.records()
        numbers = {run.key: number for number, run in enumerate(runs)}
        return FitResults(
            {numbers[key]: done.result(record, *kinds) for key, record in records.items()},
            {numbers[key]: sentence for key, sentence in done.failures.items()},
            interrupted=interrupted,
            engine=runs[0].engine,
        )


def _chosen(
    splits: str | SplitBatch, graph: Graph, repeats: int | None, seed: int
) -> tuple[str, SplitBatch]:
    """Return the name of the split rule and the splits."""
    if isinstance(splits, SplitBatch):
        check_graph(graph, repeats)
        return GIVEN, splits
    return splits, splits_of(graph, splits, repeats=repeats, seed=seed)


def train_by_name(
    model: str,
    graph: str,
    *,
    splits: str | None = None,
    repeats: int | None = None,
    preset: str | None = None,
    extra: tuple[SettingRule, ...] = (),
    data_folder: str | Path | None = None,
    offline: bool = False,
    options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **how: Any,
) -> TrainReport:
    """Train a model on a graph given by name or file, with a preset if you name one.

    ``splits`` names a split rule, by default ``"paper-random"`` with a preset and ``"random"``
    without. ``options`` and ``config`` (fields of :class:`TrainConfig`) win over the preset;
    ``how`` are the remaining arguments of :func:`train`. ``extra`` are rules on top of the preset.
    """
    from heterophily.data.source import open_graph

    rule = splits or default_rule(preset)
    lookup(SPLIT_RULES, "split rule", rule)
    spec = MODELS[model]
    chosen = recipe(preset, model, graph, rule, extra=extra) if preset else Recipe()
    # The tables print settings that some models have no use for.
    from_preset = {key: value for key, value in chosen.options.items() if spec.accepts(key)}
    opened = open_graph(graph, data_folder=data_folder, offline=offline, **chosen.graph)
    given: str | SplitBatch = rule
    if rule == "public":
        given = splits_of(opened, rule, dataset=graph, data_folder=data_folder, offline=offline)
        repeats = number_of_runs(rule, given, repeats)
    report = train(
        model,
        opened,
        splits=given,
        repeats=repeats,
        options={**from_preset, **(options or {})},
        rows_by_data=preset is None,
        config=chosen.config.replace(**(config or {})),
        **how,
    )
    hyperparameters = {**report.hyperparameters, **chosen.graph}
    return replace(report, split_rule=rule, hyperparameters=hyperparameters)


def _published(model: str, dataset: str, rule: str) -> Published | None:
    """Return the paper's number, if it was measured on splits of this kind."""
    found = SPLIT_RULES.get(rule)
    if found is None or not found.is_papers or (dataset == DEEZER and rule != "fixed"):
        return None
    assert found.settings is not None
    return published_accuracy(model, dataset, found.settings)


def _beside_the_paper(model: str, dataset: str, rule: str) -> tuple[str, ...]:
    """Say how to train beside the paper's number when it belongs to other splits."""
    papers = "fixed" if dataset == DEEZER else "paper-random"
    if rule != "random" or _published(model, dataset, papers) is None:
        return ()
    return (
        f"the paper's number for {model} on {dataset} belongs to other splits; --splits {papers} "
        "uses those and shows the number, --preset paper also takes the paper's settings",
    )


def _check_results(results: FitResults, count: int, config: TrainConfig) -> None:
    """Refuse to average over nothing, over lost replicas, or over runs without an epoch."""
    if results.failures:
        raise InputError(
            f"{next(iter(results.failures.values()))} ({len(results)} of {count} done)"
        )
    if not len(results):
        raise KeyboardInterrupt
    lost = [number for number, result in results.by_replica.items() if result.best_epoch == 0]
    if lost:
        raise InputError(
            f"the loss of split {lost[0]} was not finite in the first epoch; use a smaller "
            f"learning rate than lr={config.lr}, or features of smaller size"
        )


def _remarks(results: FitResults, count: int) -> tuple[str, ...]:
    remarks = []
    if results.interrupted:
        remarks.append(f"stopped early: {len(results)} of {count} splits are finished")
    diverged = [n for n, result in results.by_replica.items() if result.status == "diverged"]
    if diverged:
        numbers = ", ".join(map(str, diverged))
        remarks.append(
            f"the loss stopped being finite on split {numbers}: the best epoch before it counts"
        )
    return tuple(remarks)
