"""Train a model on a graph over many splits: where models, data and training meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError, lookup
from heterophily.experiments.paper import DEEZER, Published
from heterophily.experiments.presets import Recipe, Rule, recipe
from heterophily.experiments.published_tables import published_accuracy
from heterophily.experiments.train_report import TrainReport
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.runs.split_rules import (
    GIVEN,
    SPLIT_RULES,
    check_graph,
    default_rule,
    number_of_runs,
    split_remarks,
    splits_of,
)
from heterophily.training.config import TrainConfig
from heterophily.training.device import as_device
from heterophily.training.replicas import FitResults, Replica, fit_replicas
from heterophily.training.seeding import replica_seed

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
    progress: Callable[[int, int], None] | None = None,
    keep_state: bool = True,
    engine: str = "auto",
) -> TrainReport:
    """Train a model of the table on a graph and report its accuracy over the splits.

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
        See :class:`TrainConfig` and :func:`fit_replicas`.
    engine
        ``"auto"``: the native engine where it covers the model, else torch, and the report says
        why; ``"native"`` or ``"torch"``: that one.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.arange(40) % 2
    >>> ring = Graph.from_edges(np.arange(40), (np.arange(40) + 1) % 40, labels=labels)
    >>> report = train("acm-gcn", ring, repeats=2, config=TrainConfig(max_epochs=20), workers=1)
    >>> report.split_rule, len(report.results)
    ('random', 2)
    """
    graph = as_graph(graph)
    spec = spec_with(model, options or {}).on(graph)
    config = config or TrainConfig()
    as_device(device)
    rule, batch = _chosen(splits, graph, repeats, seed)
    count = number_of_runs(rule, batch, repeats)
    inputs = GraphInputs.from_graph(graph, spec.inputs, device=device)
    build = spec.builder(inputs, num_classes=graph.num_classes)
    replicas = [
        Replica(build, batch[i % len(batch)], config, replica_seed(seed, i)) for i in range(count)
    ]
    results = fit_replicas(
        replicas,
        inputs,
        graph.labels,
        workers=workers,
        device=device,
        progress=progress,
        keep_state=keep_state,
        engine=engine,
    )
    _check_results(results, count, config)
    name = model if isinstance(model, str) else model.network.__name__
    return TrainReport(
        model=name,
        graph=graph.name,
        split_rule=rule,
        splits=batch,
        hyperparameters={**asdict(config), **option_values(spec), "seed": seed},
        results=results,
        published=_published(name, graph.name, rule),
        remarks=(
            *split_remarks(graph, batch, rule),
            *inputs.remarks,
            *_remarks(results, count),
            *_beside_the_paper(name, graph.name, rule),
        ),
        source=graph,
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
    extra: tuple[Rule, ...] = (),
    data_folder: str | Path | None = None,
    offline: bool = False,
    options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **how: Any,
) -> TrainReport:
    """Open a graph by name or file, apply a preset, train.

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
        config=chosen.config.replace(**(config or {})),
        **how,
    )
    hyperparameters = {**report.hyperparameters, **chosen.graph}
    return replace(report, split_rule=rule, hyperparameters=hyperparameters)


def spec_with(model: str | ModelSpec, options: Mapping[str, Any]) -> ModelSpec:
    """Return a model of the table with changed options; a wrong value is one sentence."""
    try:
        spec = MODELS[model] if isinstance(model, str) else model
        return spec.with_options(**options)
    except TypeError as error:  # a value of the wrong kind, compared with a number
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise InputError(f"{model}: an option has the wrong kind of value ({shown})") from error


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
        f"the paper reports {model} on {dataset} on splits of another rule; --splits {papers} "
        "uses it and shows the paper's number, --preset paper also its settings",
    )


def option_values(spec: ModelSpec) -> dict[str, Any]:
    """Return every option of the model and its inputs as plain data.

    Edges as they are given and features that are counts are not named: keys of stored runs are made
    of this, and stay those of the time before these options.
    """
    parts = (spec.options, spec.inputs)
    found = {f.name: _plain(getattr(part, f.name)) for part in parts for f in fields(part)}
    if spec.inputs.edge_direction == "given":
        del found["edge_direction"]
    if spec.inputs.features == "counts":
        del found["features"]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


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
    remarks = [results.engine_note] if results.engine_note else []
    if results.interrupted:
        remarks.append(f"stopped early: {len(results)} of {count} splits are finished")
    diverged = [n for n, result in results.by_replica.items() if result.status == "diverged"]
    if diverged:
        numbers = ", ".join(map(str, diverged))
        remarks.append(
            f"the loss stopped being finite on split {numbers}: the best epoch before it counts"
        )
    return tuple(remarks)
