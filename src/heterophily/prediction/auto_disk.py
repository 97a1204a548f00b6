"""Choose a model for a graph that memory cannot hold: candidates by mini-batches, one split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from heterophily.batches.fits import length_of_training, memory_of, size_of, ways_of
from heterophily.comparison.train import train
from heterophily.comparison.train_report import TrainReport
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.errors import InputError, lookup
from heterophily.evaluation.scores import SCORES, score_for
from heterophily.evaluation.split_rules import splits_of
from heterophily.runs.executors.base import Executor
from heterophily.runs.model import spec_with
from heterophily.runs.stores.base import Store
from heterophily.training.config import TrainConfig

FAMILIES = ("mlp-2", "acm-sgc-1", "acm-sign", "dir-acm-sign", "res-sage", "acm-gcn")
"""Cheap ones first; the last ones need X and the edges in the memory of the system."""

SETTINGS: tuple[dict[str, float], ...] = (
    {"lr": 0.01, "dropout": 0.2},
    {"lr": 0.003, "dropout": 0.2},
    {"lr": 0.01, "dropout": 0.5},
    {"lr": 0.003, "dropout": 0.0},
)
"""What is tried of a family, one after the other."""


@dataclass(frozen=True, eq=False)
class DiskTrial:
    """A model with its settings, and how good it was on validation nodes; None: it failed."""

    model: str
    batches: str
    options: Mapping[str, Any]
    config: TrainConfig
    validation: float | None
    seconds: float


@dataclass(frozen=True, eq=False)
class DiskChoice:
    """All trials in their order, the best of them with its report, and by which score it is."""

    score: str
    trials: tuple[DiskTrial, ...]
    best: DiskTrial
    report: TrainReport


def auto_on_disk(
    graph: DiskGraph,
    *,
    limit: int,
    minutes: float = 3.0,
    score: str = "auto",
    seed: int = 0,
    config: Mapping[str, Any] | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    tell: Callable[[DiskTrial], None] = lambda trial: None,
) -> DiskChoice:
    """Train candidates on one random split until the time is over; the best on validation stays.

    Every family that fits into ``limit`` bytes is tried once, the cheapest first; then the two best
    with other settings. A training that has begun is finished.
    """
    name = score_for(np.asarray(graph.labels)) if score == "auto" else score
    scored = lookup(SCORES, "score", name)
    split = splits_of(cast(Graph, graph), "random", repeats=1, seed=seed)[0]
    labels = np.asarray(graph.labels[split.validation], np.int64)
    known = int(np.count_nonzero(np.asarray(graph.labels) >= 0))
    long_enough = length_of_training(known, **(config or {}))
    start = time.monotonic()
    trials: list[DiskTrial] = []
    best: tuple[DiskTrial, TrainReport] | None = None  # answers of all nodes: kept once
    for model, way, settings in _candidates(graph, limit, trials):
        if trials and time.monotonic() - start > 60 * minutes:
            break
        options = {key: value for key, value in settings.items() if key != "lr"}
        how = TrainConfig(**{**long_enough, "lr": settings["lr"], **(config or {}), "batches": way})
        before = time.monotonic()
        report = train(
            model,
            graph,
            repeats=1,
            seed=seed,
            options=options,
            config=how,
            store=store,
            executor=executor,
        )
        value = None
        for result in report.results:
            assert result.probabilities is not None
            value = float(scored(labels, result.probabilities[split.validation]))
        trial = DiskTrial(model, way, options, how, value, time.monotonic() - before)
        trials.append(trial)
        tell(trial)
        if value is not None and (best is None or value > (best[0].validation or 0.0)):
            best = trial, report
        if report.results.interrupted:
            break
    if best is None:
        raise InputError(f"no model could be trained on {graph.name} by mini-batches")
    return DiskChoice(name, tuple(trials), *best)


def _finished(trials: list[DiskTrial]) -> list[DiskTrial]:
    return [trial for trial in trials if trial.validation is not None]


def _candidates(
    graph: DiskGraph, limit: int, trials: list[DiskTrial]
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield a first chance for every family, then other settings for the two best."""
    size = size_of(graph)
    fitting: dict[str, str] = {}
    for name in FAMILIES:
        if name.startswith("dir-") and not graph.is_directed:
            continue
        spec = spec_with(name, {})
        way = next(
            (w for w in ways_of(spec) if w != "full" and memory_of(w, spec, size) <= limit), None
        )
        if way is not None:
            fitting[name] = way
    if not fitting:
        raise InputError(
            f"{graph.name} with {graph.num_nodes:,} nodes: one panel of 16 columns and the answers "
            f"of all nodes do not fit into {limit / 2**30:,.1f} GB; raise --memory "
            "(in Python HETEROPHILY_MEMORY)"
        )
    for name, way in fitting.items():
        yield name, way, SETTINGS[0]
    for settings in SETTINGS[1:]:
        ranked = sorted(_finished(trials), key=lambda trial: -(trial.validation or 0.0))
        for name in list(dict.fromkeys(trial.model for trial in ranked))[:2]:
            yield name, fitting[name], settings
