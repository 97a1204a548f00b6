"""Everything in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from heterophily.runs.executors.base import Execution, Tick

if TYPE_CHECKING:
    from heterophily.runs.job import Job
    from heterophily.runs.record import Run


@dataclass(frozen=True)
class InProcess:
    """Everything here, one after the other: no process is started."""

    def __enter__(self) -> Self:
        """Return the executor: there is nothing to keep."""
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        execution = Execution()
        try:
            for run in runs:
                execution.note(job(run))
                tick()
        except KeyboardInterrupt:
            execution.interrupted = True
        finally:
            job.close()
        return execution
