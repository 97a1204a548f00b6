"""Worker processes: start, feed, replace when they die, stop with their parent.

A worker greets, receives the shared job once, then takes one task at a time. Messages are
pickled here and travel as bytes, so nothing in flight depends on a living worker.
"""

from __future__ import annotations

import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from heterophily.errors import HeterophilyError

_ATTEMPTS = 2  # a task whose worker dies is run once more


class WorkerError(HeterophilyError, RuntimeError):
    """Worker processes cannot be started at all."""


@dataclass(eq=False)
class Outcome:
    """Results and failures by task number."""

    results: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    interrupted: bool = False


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: int | None = None
    has_job: bool = False


class WorkerPool:
    """A few processes that apply one pickled job to pickled tasks."""

    def __init__(self, job: bytes, count: int) -> None:
        self._job, self._count = job, count
        self._workers: list[_Worker] = []
        self._failed_starts = 0
        self._context = get_context("spawn")

    def run(
        self, tasks: Sequence[bytes], *, progress: Callable[[int, int], None] | None = None
    ) -> Outcome:
        """Run every task; return results in any case of dead workers or Ctrl-C."""
        outcome = Outcome()
        waiting = deque(range(len(tasks)))
        attempts = [0] * len(tasks)
        try:
            while waiting or any(worker.task is not None for worker in self._workers):
                self._keep_staffed(len(waiting))
                for worker in self._ready_workers():
                    message = _receive(worker)
                    if message is None:
                        self._bury(worker, waiting, attempts, outcome)
                    elif message[0] == "error":
                        raise message[1]
                    elif message[0] == "result":
                        assert worker.task is not None
                        outcome.results[worker.task], worker.task = message[1], None
                        if progress is not None:
                            progress(len(outcome.results), len(tasks))
                    if message is not None and waiting:
                        worker.task = waiting.popleft()
                        attempts[worker.task] += 1
                        self._assign(worker, tasks[worker.task])
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            self._stop()
        return outcome

    def _keep_staffed(self, waiting: int) -> None:
        """Start workers up to the count, as far as there are tasks for them."""
        idle = sum(worker.task is None for worker in self._workers)
        missing = min(self._count - len(self._workers), waiting - idle)
        with _interrupt_held():
            for _ in range(missing):
                here, there = self._context.Pipe()
                process = self._context.Process(target=_serve, args=(there,), daemon=True)
                process.start()
                there.close()
                self._workers.append(_Worker(process, here))

    def _ready_workers(self) -> list[_Worker]:
        ready = connection.wait([worker.pipe for worker in self._workers])
        return [worker for worker in self._workers if worker.pipe in ready]

    def _assign(self, worker: _Worker, task: bytes) -> None:
        try:
            if not worker.has_job:
                worker.pipe.send_bytes(self._job)
                worker.has_job = True
            worker.pipe.send_bytes(task)
        except OSError:
            pass  # it died: its pipe reports the end of file in the next round

    def _bury(
        self, worker: _Worker, waiting: deque[int], attempts: list[int], outcome: Outcome
    ) -> None:
        """Put the task of a dead worker back into the queue, or give it up."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        code = worker.process.exitcode or 0
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        number = worker.task
        if number is None:
            self._failed_starts += 1
            if code >= 0 or self._failed_starts > _ATTEMPTS * self._count:
                raise WorkerError(
                    f"worker processes end at their start ({cause}); in a script put the call "
                    'under if __name__ == "__main__":, or pass workers=1'
                )
            return
        if attempts[number] < _ATTEMPTS:
            waiting.appendleft(number)
            return
        outcome.failures[number] = (
            f"replica {number} was given up: its worker process died {_ATTEMPTS} times ({cause}); "
            "if memory is short, use fewer workers"
        )

    def _stop(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
        self._workers.clear()


def _receive(worker: _Worker) -> tuple[Any, ...] | None:
    """Return the next message, or None if the worker has died (a torn message included)."""
    try:
        message: tuple[Any, ...] = pickle.loads(worker.pipe.recv_bytes())
    except (EOFError, OSError):
        return None
    return message


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes start: they inherit that and leave Ctrl-C to us."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in the worker process ----------------------------------------------------------------------


def _serve(pipe: Connection) -> None:
    """Answer tasks until the parent closes the pipe."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send_bytes(pickle.dumps(("hello",)))
    try:
        job_bytes: bytes | None = pipe.recv_bytes()
        job: Callable[[Any], Any] | None = None
        while True:
            task_bytes = pipe.recv_bytes()
            try:
                if job is None:
                    assert job_bytes is not None
                    job, job_bytes = pickle.loads(job_bytes), None
                answer = pickle.dumps(("result", job(pickle.loads(task_bytes))))
            except Exception as error:
                answer = _pickled_error(error)
            pipe.send_bytes(answer)
    except (EOFError, OSError):
        return  # the parent is done, or gone


def _pickled_error(error: Exception) -> bytes:
    """Pickle an exception with its traceback as a note; an unpicklable one by its text."""
    text = "".join(traceback.format_exception(error))
    try:
        if not isinstance(error, HeterophilyError):
            error.add_note(f"in a worker process:\n{text}")
        answer = pickle.dumps(("error", error))
        pickle.loads(answer)
    except Exception:
        answer = pickle.dumps(("error", RuntimeError(f"in a worker process:\n{text}")))
    return answer


def _die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import os

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() == 1:  # the parent was gone before we asked
        os._exit(1)
