"""A run that is trained by mini-batches, on a graph in memory or on disk."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from heterophily.batches.prepare import channel_batches, sampled_batches
from heterophily.errors import InputError
from heterophily.runs.run import Run
from heterophily.runs.sources import Sources
from heterophily.training.config import TrainConfig
from heterophily.training.mini_batch import BatchSource, Team, fit_batches

if TYPE_CHECKING:
    from heterophily.channels.rows import AnyGraph
    from heterophily.learning.result import FitResult
    from heterophily.models.spec import ModelSpec


def train_batches(
    run: Run,
    sources: Sources,
    *,
    keep_state: bool = False,
    stop: Event | None = None,
    checkpoint: Path | None = None,
    team: Team | None = None,
) -> FitResult:
    """Train one run by mini-batches; with ``checkpoint`` it goes on after a kill."""
    if run.device != "cpu":
        raise InputError(f"--device {run.device}: mini-batches are trained on the CPU")
    graph, spec, config = sources.any_graph(run), sources.spec(run), TrainConfig(**run.config)
    build = partial(
        spec.build,
        num_nodes=graph.num_nodes,
        num_features=graph.num_features,
        num_classes=graph.num_classes,
    )
    return fit_batches(
        build,
        batch_source(graph, spec, config),
        np.asarray(graph.labels, np.int64),
        sources.split(run),
        config,
        seed=run.seed,
        keep_state=keep_state,
        checkpoint=checkpoint,
        team=team,
        stop=stop,
    )


def batch_source(graph: AnyGraph, spec: ModelSpec, config: TrainConfig) -> BatchSource:
    """Return the mini-batches that a configuration asks for."""
    if config.batches == "channels":
        return channel_batches(graph, spec)
    assert config.fanout is not None
    return sampled_batches(graph, spec, config.fanout)
