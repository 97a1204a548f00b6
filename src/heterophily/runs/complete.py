"""Complete a list of runs: train what the store lacks, wait for what others train. No torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import local
from heterophily.runs.job import Job
from heterophily.runs.record import Run
from heterophily.runs.stores.sqlite import Store

Watch = Callable[[set[str], int], None]
"""Called now and then with the keys that are finished and the number of all."""

_LOOK_SECONDS = 0.5
_CHUNK = 4000  # runs handed to the executor at once, so that a big study fits into memory


def complete(
    runs: Iterable[Run],
    job: Job,
    store: Store,
    *,
    executor: Executor | None = None,
    watch: Watch | None = None,
) -> dict[str, str]:
    """Train what is not in the store; return a sentence for each run that failed, by key.

    Runs that another command has claimed are waited for, and taken over if it dies. Ctrl-C
    raises ``KeyboardInterrupt``; what is finished is in the store.
    """
    asked = {run.key: run for run in runs}
    look = _Look(store, set(asked), watch)
    failures: dict[str, str] = {}
    while missing := set(asked) - look() - set(failures):
        ordered = [run for key, run in asked.items() if key in missing][:_CHUNK]
        look.nearby = {run.key for run in ordered}
        execution = (executor or local()).execute(job, ordered, look.now_and_then)
        failures |= execution.failures
        if execution.interrupted:
            look()
            raise KeyboardInterrupt
        _wait(store, execution.busy, look)
    return failures


class _Look:
    """Reads from the store which runs are finished, and shows it."""

    def __init__(self, store: Store, keys: set[str], watch: Watch | None) -> None:
        self.store, self.keys, self.watch = store, keys, watch
        self.finished: set[str] = set()
        self.nearby: set[str] = set()  # what is being trained: looked at often
        self.last = 0.0

    def __call__(self) -> set[str]:
        return self._look(self.keys)

    def now_and_then(self) -> None:
        if self.watch is not None and time.monotonic() - self.last > _LOOK_SECONDS:
            self._look(self.nearby)

    def _look(self, keys: set[str]) -> set[str]:
        self.finished |= self.store.finished(keys - self.finished)
        self.last = time.monotonic()
        if self.watch is not None:
            self.watch(self.finished, len(self.keys))
        return self.finished


def _wait(store: Store, busy: Sequence[str], look: _Look) -> None:
    """Wait while other commands train these runs; return when they are done or one died."""
    waiting = list(busy)
    while waiting := [key for key in waiting if key not in look.finished]:
        if not all(store.claims.is_taken(key) for key in waiting):
            return  # finished or given up a moment ago: the caller looks
        time.sleep(_LOOK_SECONDS)
        look()
