"""What an executor is: somebody who applies a job to runs, and tells what became of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from heterophily.runs.job import Job, Reply
    from heterophily.runs.run import Run


@dataclass(eq=False)
class Execution:
    """What became of the runs that an executor was given."""

    busy: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def note(self, reply: Reply) -> None:
        """Take a reply of the job into account."""
        if reply.what == "busy":
            self.busy.append(reply.key)
        elif reply.what == "failed":
            self.failures[reply.key] = reply.sentence

    def join(self, other: Execution) -> None:
        """Take in what became of further runs."""
        self.busy += other.busy
        self.failures |= other.failures
        self.interrupted |= other.interrupted


Tick = Callable[[], None]
"""Called after each run, to show progress."""


class Executor(Protocol):
    """Runs a job on many runs, somewhere. A cluster engine is one more class with these methods.

    The only duty: call ``job(run)`` at least once for every run, in a process that can write to
    the store, and report the replies. Doing it twice, or dying halfway, is harmless. Inside a
    ``with`` block an executor keeps what it started (processes, connections) between calls.
    """

    def __enter__(self) -> Self:
        """Keep what is started until the end of the block."""
        ...

    def __exit__(self, *error: object) -> None:
        """Let go of it."""
        ...

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        ...
