"""A pool of worker processes: start, feed, replace when they die, stop.

A worker greets, receives the shared job once, then takes one task at a time. Messages are
pickled here and travel as bytes, so nothing in flight depends on a living worker.

Workers are started as programs of their own: unlike those of :mod:`multiprocessing` they do not run
the user's script again. What that script or a notebook defines travels by value.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe, connection
from multiprocessing.connection import Connection
from socket import socket
from types import TracebackType
from typing import Any

from heterophily.errors import HeterophilyError
from heterophily.learning.progress import Progress
from heterophily.training.interrupts import interrupt_bell, interrupt_held
from heterophily.training.worker import START

_ATTEMPTS = 2  # a task whose worker dies is run once more


class WorkerError(HeterophilyError, RuntimeError):
    """Worker processes cannot be started at all."""


@dataclass(frozen=True, slots=True)
class LostTask:
    """A task that was given up, because its worker process died too often."""

    deaths: int
    cause: str

    def __str__(self) -> str:
        """Say what happened, and what may help."""
        return (
            f"given up: its worker process died {self.deaths} times ({self.cause}); if memory is "
            "short, use fewer workers"
        )


@dataclass(eq=False)
class PoolResults:
    """Results, and the tasks that were given up, by task number."""

    results: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, LostTask] = field(default_factory=dict)
    interrupted: bool = False


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: Connection
    task: int | None = None
    has_greeted: bool = False
    has_job: bool = False

    @property
    def is_free(self) -> bool:
        return self.has_greeted and self.task is None


class WorkerPool:
    """A few processes that apply one pickled job to pickled tasks.

    Each :meth:`run` starts and stops them; inside a ``with`` block they stay between runs, with
    the job and all that it prepared.
    """

    def __init__(self, job: bytes, count: int) -> None:
        self.job, self.count = job, count
        self._workers: list[_Worker] = []
        self._failed_starts = 0
        self._is_kept = False

    def __enter__(self) -> WorkerPool:
        """Keep the processes until the end of the block."""
        self._is_kept = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the processes."""
        self._is_kept = False
        self._stop()

    def run(self, tasks: Sequence[bytes], *, progress: Progress | None = None) -> PoolResults:
        """Run every task; return results in any case of dead workers or Ctrl-C."""
        outcome = PoolResults()
        waiting = deque(range(len(tasks)))
        attempts = [0] * len(tasks)
        is_whole = False
        try:
            with interrupt_bell() as bell:
                while waiting or any(worker.task is not None for worker in self._workers):
                    self._keep_staffed(len(waiting))
                    for worker in self._workers:
                        if waiting and worker.is_free:
                            worker.task = waiting.popleft()
                            attempts[worker.task] += 1
                            self._assign(worker, tasks[worker.task])
                    for worker in self._ready_workers(bell):
                        message = _receive(worker)
                        if message is None:
                            self._replace(worker, waiting, attempts, outcome)
                        elif message[0] == "error":
                            raise message[1]
                        elif message[0] == "hello":
                            worker.has_greeted = True
                        else:
                            assert worker.task is not None
                            outcome.results[worker.task], worker.task = message[1], None
                            if progress is not None:
                                progress(len(outcome.results), len(tasks))
            is_whole = True
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            if not (is_whole and self._is_kept):
                self._stop()
        return outcome

    def _keep_staffed(self, waiting: int) -> None:
        """Start workers up to the count, as far as there are tasks for them."""
        idle = sum(worker.task is None for worker in self._workers)
        missing = min(self.count - len(self._workers), waiting - idle)
        if missing <= 0:
            return
        with interrupt_held():
            for _ in range(missing):
                here, there = Pipe()
                with there:
                    self._workers.append(_Worker(_started(there), here))

    def _ready_workers(self, bell: socket | None) -> list[_Worker]:
        """Wait for messages; a signal ends the wait too, and Python then raises what it means."""
        waited: list[Connection | socket] = [worker.pipe for worker in self._workers]
        ready = connection.wait(waited if bell is None else [*waited, bell])
        if bell is not None and bell in ready:
            bell.recv(4096)
        return [worker for worker in self._workers if worker.pipe in ready]

    def _assign(self, worker: _Worker, task: bytes) -> None:
        try:
            if not worker.has_job:
                worker.pipe.send_bytes(self.job)
                worker.has_job = True
            worker.pipe.send_bytes(task)
        except OSError:
            pass  # it died: its pipe reports the end of file in the next round

    def _replace(
        self, worker: _Worker, waiting: deque[int], attempts: list[int], outcome: PoolResults
    ) -> None:
        """Put the task of a dead worker back into the queue, or give it up."""
        self._workers.remove(worker)
        worker.pipe.close()
        code = worker.process.wait()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        number = worker.task
        if worker.is_free:
            return
        if number is None:
            self._failed_starts += 1
            if code >= 0 or self._failed_starts > _ATTEMPTS * self.count:
                raise WorkerError(
                    f"worker processes stop as soon as they start ({cause}); pass workers=1 to "
                    "train without them"
                )
            return
        if attempts[number] < _ATTEMPTS:
            waiting.appendleft(number)
            return
        outcome.failures[number] = LostTask(_ATTEMPTS, cause)

    def _stop(self) -> None:
        with interrupt_held():
            for worker in self._workers:
                worker.pipe.close()
                worker.process.kill()
            for worker in self._workers:
                worker.process.wait()
            self._workers.clear()


def pickled(value: Any) -> bytes:
    """Pickle a job or a task; what a script or a notebook defines is sent by value.

    A worker does not run the user's program, so it could not look such a name up there.
    """
    try:
        plain = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in plain:
            return plain
    except (pickle.PicklingError, AttributeError, TypeError):
        pass  # a lambda, a local function: by value too
    from joblib import wrap_non_picklable_objects

    return pickle.dumps(wrap_non_picklable_objects(value, keep_wrapper=False))


def _started(pipe: Connection) -> subprocess.Popen[bytes]:
    """Start a worker at one end of a pipe; it looks for modules where this process does."""
    descriptor = pipe.fileno()
    # -P: no folder that happens to be the current one comes before the standard library
    program = [
        sys.executable,
        "-P",
        "-c",
        START,
        str(os.getpid()),
        str(descriptor),
        *map(str, sys.path),
    ]
    return subprocess.Popen(program, stdin=subprocess.DEVNULL, pass_fds=(descriptor,))


def _receive(worker: _Worker) -> tuple[Any, ...] | None:
    """Return the next message, or None if the worker has died (a torn message included)."""
    try:
        message: tuple[Any, ...] = pickle.loads(worker.pipe.recv_bytes())
    except (EOFError, OSError):
        return None
    return message
