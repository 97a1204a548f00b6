"""Many replicas of one graph: a queue over worker processes that never changes a result."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.training.config import TrainConfig
from heterophily.training.cores import usable_cores as usable_cores
from heterophily.training.device import as_device
from heterophily.training.engines import native_or_note, refused
from heterophily.training.fit import fit, with_logits
from heterophily.training.result import FitResult
from heterophily.training.workers import WorkerPool, pickled

Progress = Callable[[int, int], None]
"""Called with (number of replicas finished, number of replicas)."""


@dataclass(frozen=True, eq=False)
class Replica:
    """One training run: what to build, on which split, how, with which seed."""

    build: Callable[[], nn.Module]
    split: Split
    config: TrainConfig
    seed: int


@dataclass(frozen=True, eq=False)
class FitResults:
    """The finished results in replica order, and what became of the others.

    Parameters
    ----------
    by_replica
        Result of each finished replica, by its number.
    failures
        One sentence for each replica that was given up, by its number.
    interrupted
        Whether Ctrl-C ended the queue early.
    engine
        ``"native"`` or ``"torch"``: what ran the replicas.
    engine_note
        Why torch ran although ``engine="auto"`` asked for the native engine; else empty.
    """

    by_replica: Mapping[int, FitResult]
    failures: Mapping[int, str] = field(default_factory=dict)
    interrupted: bool = False
    engine: str = "torch"
    engine_note: str = ""

    def __len__(self) -> int:
        """Return the number of finished replicas."""
        return len(self.by_replica)

    def __iter__(self) -> Iterator[FitResult]:
        """Iterate over the finished results in replica order."""
        return (self.by_replica[number] for number in sorted(self.by_replica))


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
            engine="torch",
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
    engine: str = "torch",
    buffers: Any = None,
    stop: Event | None = None,
) -> FitResults:
    """Train replicas side by side, one thread each; every result is as if it ran alone.

    Parameters
    ----------
    replicas
        The runs. With more than one worker their ``build`` is sent to other processes; what a
        script or a notebook defines is sent by value.
    inputs, labels
        Shared by all; sent to each worker process once.
    workers
        Number of processes; default: one for each usable core. One worker, one replica or a GPU
        means no process is started. Workers do not run the calling script again.
    progress
        Called after each finished replica with (finished, total).
    device
        ``"cpu"`` or ``"cuda"``.
    keep_state
        Whether the results hold parameters and logits of the best epoch.
    engine
        ``"native"``: the C++ engine, on threads of this process; ``"torch"``; or ``"auto"``: the
        native one where it covers the model (``engine_note`` says why not).
    buffers
        :class:`~heterophily.engine.buffers.GraphBuffers` of ``inputs``, from a caller who trains
        on one graph many times; otherwise the native engine prepares them in each call.
    stop
        When set (by another thread), the native engine ends as after Ctrl-C.

    Returns
    -------
    FitResults
        Ctrl-C keeps what is finished. A replica whose worker process dies is run once more, then
        given up with a sentence in ``failures``. An error inside a replica is raised here.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers={workers}; use at least one")
    is_weighted = any(replica.config.is_weighted for replica in replicas)
    native = native_or_note(engine, device, is_weighted=is_weighted)
    note = native if isinstance(native, str) else ""
    count = min(workers or usable_cores(), len(replicas))
    if not isinstance(native, str):
        try:
            done = native.run(
                replicas,
                inputs if buffers is None else buffers,
                labels,
                threads=count,
                progress=progress,
                keep_state=keep_state,
                stop=stop,
            )
            found = {
                number: with_logits(result, done.models[number], inputs)
                for number, result in done.results.items()
            }
            return FitResults(found, interrupted=done.interrupted, engine="native")
        except native.NotCoveredError as error:
            note = refused(engine, str(error))
    job = _Job(inputs, labels, device, keep_state)
    if as_device(device).type != "cpu" or count <= 1:
        return replace(_one_by_one(job, replicas, progress), engine_note=note)
    payload, tasks = (
        _pickled(job, "the prepared graph"),
        [_pickled(r, "a replica") for r in replicas],
    )
    outcome = WorkerPool(payload, count).run(tasks, progress=progress)
    return FitResults(outcome.results, outcome.failures, outcome.interrupted, engine_note=note)


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
