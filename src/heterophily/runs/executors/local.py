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
    from heterophily.runs.run import Run
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
        self._known = ""

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
        pool = self._pool_for(job, len(runs))
        outcome = pool.run([pickle.dumps(run) for run in runs], progress=lambda *_: tick())
        execution = Execution(interrupted=outcome.interrupted)
        for number, reply in outcome.results.items():
            if reply.trained is not None:
                job.commit(runs[number], reply.trained)
            execution.note(reply)
        for number, lost in outcome.failures.items():
            run = runs[number]
            place = f"{run.model} on {run.graph.name}, split {run.split.index}"
            execution.failures[run.key] = f"{place}: {lost}"
        job.close()
        return execution

    def _pool_for(self, job: Job, tasks: int) -> WorkerPool:
        from heterophily.training.workers import WorkerPool

        if self._open is None:
            return WorkerPool(job.pickled, min(self.workers, tasks))
        if self._pool is None or self._known != job.content:
            self._open.close()
            self._pool = self._open.enter_context(WorkerPool(job.pickled, self.workers))
            self._known = job.content
        return self._pool


class ThisMachine:
    """Threads of this process where the native engine trains, worker processes where torch does.

    A single run is trained in this process, and so is everything with one worker or on a GPU.
    Inside a ``with`` block worker processes stay from one call to the next.
    """

    def __init__(self, workers: int) -> None:
        self.threads, self.processes = InProcess(workers), LocalProcesses(workers)

    def __enter__(self) -> Self:
        """Keep the processes until the end of the block."""
        self.processes.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the processes."""
        self.processes.__exit__(*error)

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        slow = [run for run in runs if run.engine == "torch" and run.device == "cpu"]
        if len(slow) == 1 or self.processes.workers == 1:
            slow = []
        elsewhere = {run.key for run in slow}
        here = [run for run in runs if run.key not in elsewhere]
        execution = self.threads.execute(job, here, tick) if here else Execution()
        if slow and not execution.interrupted:
            execution.join(self.processes.execute(job, slow, tick))
        return execution


def this_machine(workers: int | None = None) -> Executor:
    """Return the executor that starts fastest; by default with a worker for each usable core."""
    return ThisMachine(_checked(workers))


def local(workers: int | None = None) -> Executor:
    """Train with worker processes on this machine; by default one for each usable core."""
    count = _checked(workers)
    return InProcess() if count == 1 else LocalProcesses(count)


def _checked(workers: int | None) -> int:
    from heterophily.training.cores import usable_cores

    if workers is not None and workers < 1:
        raise InputError(f"workers={workers}; use at least one")
    return workers or usable_cores()
