"""Train a model on a graph over many splits: where models, data and training meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch, random_splits
from heterophily.errors import InputError, lookup
from heterophily.experiments.paper import DEEZER, PROTOCOLS, Published
from heterophily.experiments.presets import Recipe, Rule, recipe
from heterophily.experiments.published_tables import published_accuracy
from heterophily.experiments.train_report import TrainReport
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.device import as_device
from heterophily.training.replicas import FitResults, Replica, fit_replicas
from heterophily.training.seeding import replica_seed

if TYPE_CHECKING:
    from heterophily.models.spec import ModelSpec

SPLIT_RULES = {
    "random": "class-balanced random 60/20/20 splits",
    "fixed": "the splits that come with the data",
    "public": "the public split of cora, citeseer, pubmed",
}
_REPEATS = 10


def train(
    model: str | ModelSpec,
    graph: Graph,
    *,
    protocol: str = "random",
    splits: SplitBatch | None = None,
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
        The graph; at least two classes must be labelled.
    protocol
        ``"random"`` draws splits from (seed, index); ``"fixed"`` takes those of the graph;
        ``"public"`` needs ``splits``.
    splits
        Splits to use instead of those that the protocol would give.
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
    >>> report.protocol, len(report.results)
    ('random', 2)
    """
    spec = spec_with(model, options or {})
    config = config or TrainConfig()
    as_device(device)
    splits = splits_of(graph, protocol, splits, repeats, seed)
    count = number_of_runs(protocol, splits, repeats)
    inputs = GraphInputs.from_graph(graph, spec.inputs, device=device)
    build = spec.builder(inputs, num_classes=graph.num_classes)
    replicas = [
        Replica(build, splits[i % len(splits)], config, replica_seed(seed, i)) for i in range(count)
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
        protocol=protocol,
        hyperparameters={**asdict(config), **option_values(spec), "seed": seed},
        results=results,
        published=_published(name, graph.name, protocol),
        remarks=(*inputs.remarks, *_remarks(results, count)),
    )


def train_by_name(
    model: str,
    graph: str,
    *,
    protocol: str = "random",
    preset: str | None = None,
    extra: tuple[Rule, ...] = (),
    data_folder: str | Path | None = None,
    offline: bool = False,
    options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **how: Any,
) -> TrainReport:
    """Open a graph by name or file, apply a preset, train.

    ``options`` and ``config`` (fields of :class:`TrainConfig`) win over the preset; ``how`` are
    the remaining arguments of :func:`train`. ``extra`` are rules on top of the preset.
    """
    from heterophily.data.source import open_graph

    lookup(SPLIT_RULES, "split rule", protocol)
    spec = MODELS[model]
    chosen = recipe(preset, model, graph, protocol, extra=extra) if preset else Recipe()
    # The tables print settings that some models have no use for.
    from_preset = {key: value for key, value in chosen.options.items() if spec.accepts(key)}
    opened = open_graph(graph, data_folder=data_folder, offline=offline, **chosen.graph)
    splits = None
    if protocol == "public":
        splits = public_splits(graph, data_folder, offline)
    report = train(
        model,
        opened,
        protocol=protocol,
        splits=splits,
        options={**from_preset, **(options or {})},
        config=chosen.config.replace(**(config or {})),
        **how,
    )
    return replace(report, hyperparameters={**report.hyperparameters, **chosen.graph})


def spec_with(model: str | ModelSpec, options: Mapping[str, Any]) -> ModelSpec:
    """Return a model of the table with changed options; a wrong value is one sentence."""
    try:
        spec = MODELS[model] if isinstance(model, str) else model
        return spec.with_options(**options)
    except TypeError as error:  # a value of the wrong kind, compared with a number
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise InputError(f"{model}: an option has the wrong kind of value ({shown})") from error


def splits_of(
    graph: Graph, protocol: str, splits: SplitBatch | None, repeats: int | None, seed: int
) -> SplitBatch:
    """Return the splits that a protocol gives on a graph, or those that were handed in."""
    lookup(SPLIT_RULES, "split rule", protocol)
    if graph.num_classes < 2:
        raise InputError(
            f"{graph.name}: {graph.num_classes} labelled class(es); training needs at least two"
        )
    if repeats is not None and repeats < 1:
        raise InputError(f"repeats={repeats}; train at least once")
    if splits is not None:
        return splits
    if protocol == "random":
        return random_splits(graph.labels, repeats=repeats or _REPEATS, seed=seed)
    if protocol == "fixed" and graph.splits is not None:
        return graph.splits
    raise InputError(f"{graph.name} has no {protocol} splits; use --splits random")


def number_of_runs(protocol: str, splits: SplitBatch, repeats: int | None) -> int:
    """Return how many replicas to train: asked for, or one per split."""
    return repeats or (_REPEATS if protocol == "public" else len(splits))


def _published(model: str, dataset: str, protocol: str) -> Published | None:
    """Return the paper's number, if it was measured on splits of this kind."""
    if protocol not in PROTOCOLS or (dataset == DEEZER and protocol != "fixed"):
        return None
    return published_accuracy(model, dataset, protocol)


def public_splits(graph: str, data_folder: str | Path | None, offline: bool) -> SplitBatch:
    """Return Planetoid's public split of a dataset."""
    from heterophily.data.catalog import DATASETS, split_sets

    found = {}
    if graph in DATASETS:
        found = split_sets(graph, data_folder=data_folder, offline=offline)
    if "public" not in found:
        raise InputError(f"{graph} has no public split; use --splits random or fixed")
    return found["public"]


def option_values(spec: ModelSpec) -> dict[str, Any]:
    """Return every option of the model and its inputs as plain data.

    Edges as they are given are not named: keys of stored runs are made of this, and stay those of
    the time before that option.
    """
    parts = (spec.options, spec.inputs)
    found = {f.name: _plain(getattr(part, f.name)) for part in parts for f in fields(part)}
    if spec.inputs.edge_direction == "given":
        del found["edge_direction"]
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
