"""One training on several machines: torch's data parallel processes under Ray Train.

Every process goes through the same batches and takes its share of each, so the result is that of
one process up to the order of sums (without dropout). After every epoch the first process writes a
checkpoint to a folder that all machines share; when a worker dies Ray starts all of them again, and
they go on after the last finished epoch.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.batches.prepare import channel_batches, sampled_batches
from heterophily.channels.rows import AnyGraph
from heterophily.errors import InputError, MissingExtraError
from heterophily.runs.executors.ray import RayCluster
from heterophily.training.mini_batch import BatchSource, Team, fit_batches
from heterophily.training.processes import ProcessTeam

if TYPE_CHECKING:
    from heterophily.data.splits import Split
    from heterophily.learning.result import FitResult
    from heterophily.models.spec import ModelSpec
    from heterophily.training.config import TrainConfig

CHECKPOINT = "training.pt"


def _batches(graph: AnyGraph, spec: ModelSpec, config: TrainConfig) -> BatchSource:
    if config.batches == "channels":
        return channel_batches(graph, spec)
    if config.batches == "sampled":
        return sampled_batches(graph, spec, config.fanout or 10)
    raise InputError(
        f"batches={config.batches!r}: processes that train together share mini-batches; choose "
        "'channels' or 'sampled'"
    )


def train_together(
    spec: ModelSpec,
    graph: AnyGraph,
    split: Split,
    config: TrainConfig,
    *,
    folder: str | os.PathLike[str],
    seed: int = 0,
    processes: int = 2,
    attempts: int = 3,
    address: str | None = None,
) -> FitResult:
    """Train one model by several processes under Ray Train, and return its result.

    Parameters
    ----------
    spec, graph, split, config, seed
        As everywhere; ``config.batches`` is ``"channels"`` or ``"sampled"``.
    folder
        For the checkpoint; all machines see it. A training that was stopped goes on from it.
    processes
        How many train together, one core each.
    attempts
        So many times may workers die before the training is given up.
    address
        ``HOST:PORT`` of a cluster; None starts one on this machine.
    """
    if processes < 1:
        raise InputError(f"processes={processes}; at least one trains")
    source = _batches(graph, spec, config)  # refuses before Ray is started
    place = Path(folder).resolve()
    place.mkdir(parents=True, exist_ok=True)
    with RayCluster(address, workers=processes + 1) as cluster:
        cluster.connect(processes + 1)  # Ray Train has a process of its own beside them
        trainer = _trainer(
            {"job": (spec, graph, split, config, seed, str(place))}, place, processes, attempts
        )
        try:
            trainer.fit()
        except Exception as error:
            if "TrainingFailed" not in type(error).__name__:
                raise
            raise InputError(
                f"the training was given up after {attempts} restarts: "
                f"{' '.join(str(error).split())[:300]}; the checkpoint is in {place}"
            ) from error
    return _fit(spec, graph, split, config, seed, place, source, Team())  # reads the last epoch


def train_alone(
    spec: ModelSpec, graph: AnyGraph, split: Split, config: TrainConfig, *, seed: int = 0
) -> FitResult:
    """Train the same in this process, for comparison."""
    return _fit(spec, graph, split, config, seed, None, _batches(graph, spec, config), Team())


def _trainer(told: dict[str, Any], place: Path, processes: int, attempts: int) -> Any:
    try:
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer
    except ImportError as error:
        raise MissingExtraError(
            "training on Ray needs an extra: pip install 'heterophily[cluster]'"
        ) from error
    return TorchTrainer(
        _work,
        train_loop_config=told,
        scaling_config=ScalingConfig(num_workers=processes, resources_per_worker={"CPU": 1}),
        torch_config=TorchConfig(backend="gloo"),
        run_config=RunConfig(
            name="ray-train",
            storage_path=str(place),
            failure_config=FailureConfig(max_failures=attempts),
        ),
    )


def _work(told: dict[str, Any]) -> None:
    """Train in one of the processes."""
    spec, graph, split, config, seed, place = told["job"]
    source = _batches(graph, spec, config)
    _fit(spec, graph, split, config, seed, Path(place), source, ProcessTeam())


def _fit(
    spec: ModelSpec,
    graph: AnyGraph,
    split: Split,
    config: TrainConfig,
    seed: int,
    place: Path | None,
    source: BatchSource,
    team: Team,
) -> FitResult:
    return fit_batches(
        lambda: spec.build(
            num_nodes=graph.num_nodes,
            num_features=graph.num_features,
            num_classes=graph.num_classes,
        ),
        source,
        np.asarray(graph.labels),
        split,
        config,
        seed=seed,
        checkpoint=None if place is None else place / CHECKPOINT,
        team=team,
    )
