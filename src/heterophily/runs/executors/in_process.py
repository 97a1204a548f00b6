"""Everything in this process, on one thread or on several."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from heterophily.runs.executors.base import Execution, Tick

if TYPE_CHECKING:
    from heterophily.runs.job import Job, Reply
    from heterophily.runs.run import Run


@dataclass(frozen=True)
class InProcess:
    """Everything here: no process is started.

    Several ``threads`` are of use to the native engine, which trains outside of Python: they take a
    run each, or share one if there are fewer runs. Runs of torch wait for each other.
    """

    threads: int = 1

    def __enter__(self) -> Self:
        """Return the executor: there is nothing to keep."""
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        execution = Execution()
        try:
            if self.threads == 1 or len(runs) == 1:
                for run in runs:
                    execution.note(job(run, self.threads))
                    tick()
            else:
                self._on_threads(job, runs, tick, execution)
        except KeyboardInterrupt:
            execution.interrupted = True
        finally:
            job.close()
        return execution

    def _on_threads(self, job: Job, runs: Sequence[Run], tick: Tick, execution: Execution) -> None:
        count = min(self.threads, len(runs))
        with ThreadPoolExecutor(count, thread_name_prefix="heterophily-run") as pool:
            each = self.threads // count
            waiting: set[Future[Reply]] = {pool.submit(job, run, each) for run in runs}
            try:
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        execution.note(future.result())
                        tick()
            except BaseException:
                job.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                job.stop.clear()
                raise
