"""The time of a search: what its trainings took, also those of commands that were killed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from heterophily.runs.record import Record


class TimeSpent:
    """A clock that moves when trainings end, and remembers how far for each of them.

    A training that is new moves it by the time that passed; one that the store had already, by the
    time that it took when it was trained. So a search that is given the same finished runs makes
    the same decisions, and time that was spent before a kill is not given twice.

    Parameters
    ----------
    now
        Tells the seconds that pass.
    since
        When the search began, by default now: the diagnosis counts as part of the first training.
    memory
        A file beside the store with the seconds of each run; None: they are for this search alone.
    workers
        Trainings at a time: of a run that was finished just before a kill, only its own seconds
        are known.
    """

    def __init__(
        self,
        now: Callable[[], float],
        *,
        since: float | None = None,
        memory: Path | None = None,
        workers: int = 1,
    ) -> None:
        self._now, self._memory, self._workers = now, memory, workers
        self._known = _read(memory)
        self._total, self._last = 0.0, now() if since is None else since

    def now(self) -> float:
        """Return the seconds spent so far."""
        return self._total

    def seconds(self, record: Record) -> float:
        """Return how far the training of a record moved the clock."""
        return self._known.get(record.key, record.outcome.seconds / self._workers)

    def count(self, records: Sequence[Record], known: Collection[str]) -> None:
        """Count a batch of trainings that just ended; ``known`` were in the store before."""
        moment = self._now()
        passed, self._last = moment - self._last, moment
        fresh = [record for record in records if record.key not in known]
        whole = sum(record.outcome.seconds for record in fresh)
        for record in records:
            if record.key in known:
                usual = record.outcome.seconds / self._workers
                self._total += self._known.setdefault(record.key, usual)
            else:  # of trainings side by side, longer ones took more of the time
                share = record.outcome.seconds / whole if whole > 0 else 1.0 / len(fresh)
                self._known[record.key] = passed * share
                self._total += passed * share
        if fresh and self._memory is not None:
            self._append([record.key for record in fresh])

    def _append(self, keys: Sequence[str]) -> None:
        """Add lines in a single write: those of other commands do not mix with them."""
        assert self._memory is not None
        lines = "".join(f"{json.dumps([key, round(self._known[key], 6)])}\n" for key in keys)
        with suppress(OSError):  # a full disk: the runs themselves tell their seconds
            handle = os.open(self._memory, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                os.write(handle, lines.encode())
            finally:
                os.close(handle)


def _read(memory: Path | None) -> dict[str, float]:
    """Return the seconds by run; lines that are torn or not ours are left out."""
    found: dict[str, float] = {}
    if memory is None or not memory.is_file():
        return found
    for line in memory.read_text("utf-8", errors="replace").splitlines():
        with suppress(ValueError, TypeError):
            key, seconds = json.loads(line)
            found[str(key)] = float(seconds)
    return found
