"""Many replicas of one graph: a queue over worker processes that never changes a result."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.learning.progress import Progress
from heterophily.learning.result import FitResult
from heterophily.training.cores import usable_cores as usable_cores
from heterophily.training.device import as_device
from heterophily.training.fit import fit
from heterophily.training.replica import Engine, FitResults, Replica
from heterophily.training.workers import WorkerPool, pickled


@dataclass(frozen=True, eq=False)
class _Job:
    """What all replicas share; sent to each worker process once."""

    inputs: Any
    labels: NDArray[np.int64]
    device: str
    keep_state: bool

    def __call__(self, replica: Replica) -> FitResult:
        return fit(
            replica.build,
            self.inputs,
            self.labels,
            replica.split,
            replica.config,
            seed=replica.seed,
            device=self.device,
            keep_state=self.keep_state,
        )


def fit_replicas(
    replicas: Sequence[Replica],
    inputs: Any,
    labels: NDArray[np.int64],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    device: str = "cpu",
    keep_state: bool = True,
    engine: Engine | None = None,
    stop: Event | None = None,
) -> FitResults:
    """Train many runs at the same time, one thread each; each result is as if it ran alone.

    Parameters
    ----------
    replicas
        The runs. With more than one worker their ``build`` is sent to other processes; what a
        script or a notebook defines is sent by value.
    inputs, labels
        Shared by all; sent to each worker process once.
    workers
        Number of processes; default: one for each usable core. One worker, one replica or a GPU
        means no process is started. Workers do not run the calling script again. An ``engine``
        starts threads instead; on a large graph they share a replica where there are too few.
    progress
        Called after each finished replica with (finished, total).
    device
        ``"cpu"`` or ``"cuda"``.
    keep_state
        Whether the results hold parameters and logits of the best epoch.
    engine
        What trains in place of torch, such as
        :class:`~heterophily.engine.run.NativeEngine`; None: torch.
    stop
        When set (by another thread), the engine ends as after Ctrl-C.

    Returns
    -------
    FitResults
        Ctrl-C keeps what is finished. A replica whose worker process dies is run once more, then
        given up with a sentence in ``failures``. An error inside a replica is raised here.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers={workers}; use at least one")
    count = min(workers or usable_cores(), len(replicas))
    if engine is not None:
        return engine.train(
            replicas,
            inputs,
            labels,
            threads=workers or usable_cores(),
            progress=progress,
            keep_state=keep_state,
            stop=stop,
        )
    job = _Job(inputs, labels, device, keep_state)
    if as_device(device).type != "cpu" or count <= 1:
        return _one_by_one(job, replicas, progress)
    payload, tasks = (
        _pickled(job, "the prepared graph"),
        [_pickled(r, "a replica") for r in replicas],
    )
    outcome = WorkerPool(payload, count).run(tasks, progress=progress)
    failures = {number: f"replica {number} was {lost}" for number, lost in outcome.failures.items()}
    return FitResults(outcome.results, failures, outcome.interrupted)


def _one_by_one(job: _Job, replicas: Sequence[Replica], progress: Progress | None) -> FitResults:
    results: dict[int, FitResult] = {}
    try:
        for number, replica in enumerate(replicas):
            results[number] = job(replica)
            if progress is not None:
                progress(len(results), len(replicas))
    except KeyboardInterrupt:
        return FitResults(results, interrupted=True)
    return FitResults(results)


def _pickled(value: Any, what: str) -> bytes:
    try:
        return pickled(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{what} cannot be sent to a worker process ({error}); pass workers=1"
        ) from error
