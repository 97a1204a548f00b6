"""Worker processes on this machine."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from heterophily.errors import InputError
from heterophily.runs.executors.base import Execution, Executor, Tick
from heterophily.runs.executors.in_process import InProcess

if TYPE_CHECKING:
    from heterophily.runs.job import Job
    from heterophily.runs.record import Run
    from heterophily.training.workers import WorkerPool


class LocalProcesses:
    """Worker processes on this machine, one thread each; each takes the next run when free.

    They start with each call and end with it; inside a ``with`` block they stay, with the graphs
    that they prepared, for as long as the job stays the same.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._open: ExitStack | None = None
        self._pool: WorkerPool | None = None

    def __enter__(self) -> Self:
        """Keep the processes until the end of the block."""
        self._open = ExitStack()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the processes."""
        assert self._open is not None
        self._open.close()
        self._open = self._pool = None

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        pool = self._pool_for(pickle.dumps(job), len(runs))
        outcome = pool.run([pickle.dumps(run) for run in runs], progress=lambda *_: tick())
        execution = Execution(interrupted=outcome.interrupted)
        for reply in outcome.results.values():
            execution.note(reply)
        for number, sentence in outcome.failures.items():
            run = runs[number]
            place = f"{run.model} on {run.graph.name}, split {run.split.index}"
            execution.failures[run.key] = f"{place}: {sentence.partition(' was ')[2] or sentence}"
        return execution

    def _pool_for(self, job: bytes, tasks: int) -> WorkerPool:
        from heterophily.training.workers import WorkerPool

        if self._open is None:
            return WorkerPool(job, min(self.workers, tasks))
        if self._pool is None or self._pool.job != job:
            self._open.close()
            self._pool = self._open.enter_context(WorkerPool(job, self.workers))
        return self._pool


def local(workers: int | None = None) -> Executor:
    """Return the executor for a number of workers; by default one for each usable core."""
    from heterophily.training.replicas import usable_cores

    if workers is not None and workers < 1:
        raise InputError(f"workers={workers}; use at least one")
    count = workers or usable_cores()
    return InProcess() if count == 1 else LocalProcesses(count)
