"""A store in memory: nothing is kept when the process ends."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heterophily.runs.record import Record
from heterophily.runs.stores.base import Claims, Reach, Start, Store, StoreError
from heterophily.runs.stores.rows import StoredRow, place, row_of

_NUMBERS = itertools.count(1)
_OPENED: dict[str, MemoryStore] = {}


class MemoryStore(Store):
    """Finished runs of this process.

    Every new one has a URL of its own (``memory:1``, ...); opened by that URL, the same process
    gets the same store until it is closed.

    >>> with MemoryStore() as store:
    ...     MemoryStore.open(store.url) is store, len(store)
    (True, 0)
    """

    reach: Reach = "process"

    def __init__(self) -> None:
        self.url = self.name = f"memory:{next(_NUMBERS)}"
        self._claims = MemoryClaims()
        self._by_key: dict[str, StoredRow] = {}
        self._starts: list[Start] = []
        self._finishes: dict[str, int] = {}
        self._folder: Path | None = None
        self._lock = threading.Lock()
        self._holders = 1
        _OPENED[self.url] = self

    @classmethod
    def open(cls, url: str, **_: Any) -> MemoryStore:
        """Return a new store for ``memory:``, or the open one that a URL names."""
        if url == "memory:":
            return cls()
        if url not in _OPENED:
            raise StoreError(
                f"{url} is in the memory of another process or was closed; train with "
                "--workers 1, or name a file with --store"
            )
        store = _OPENED[url]
        store._holders += 1
        return store

    @property
    def schema(self) -> int:
        """Always the same: nothing is kept."""
        return 1

    def __len__(self) -> int:
        """Return the number of finished runs."""
        return len(self._by_key)

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a record."""
        return {key for key in keys if key in self._by_key}

    def _rows(self, keys: Sequence[str] | None) -> Iterable[StoredRow]:
        with self._lock:
            if keys is None:
                rows = list(self._by_key.values())
            else:
                rows = [self._by_key[key] for key in set(keys) if key in self._by_key]
        return sorted(rows, key=_order)

    def _rows_like(self, start_of_key: str) -> Iterable[StoredRow]:
        return [row for row in self._rows(None) if row.key.startswith(start_of_key)]

    def starts(self) -> list[Start]:
        """Return every beginning of a run, in order."""
        with self._lock:
            return [
                Start(one.key, one.number, self._finishes.get(one.key), one.place)
                for one in self._starts
            ]

    @property
    def claims(self) -> Claims:
        """The claims on runs of this store."""
        return self._claims

    @property
    def artefact_folder(self) -> Path:
        """A temporary folder; it goes with the store."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="heterophily-"))
            return self._folder

    def start(self, key: str) -> int:
        """Note that a run begins; return the number of this beginning."""
        with self._lock:
            self._starts.append(Start(key, len(self._starts) + 1, None, place()))
            return len(self._starts)

    def add_all(self, records: Iterable[Record], *, start: int | None = None) -> int:
        """Write records, all or none; return how many were new."""
        rows = [row_of(record) for record in records]
        with self._lock:
            before = len(self._by_key)
            for row in rows:
                self._by_key.setdefault(row.key, row)
            added = len(self._by_key) - before
            if start is not None and added:
                self._finishes[rows[0].key] = start
        return added

    def close(self) -> None:
        """Forget everything, once each that opened it has closed it."""
        self._holders -= 1
        if self._holders > 0:
            return
        _OPENED.pop(self.url, None)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class MemoryClaims:
    """Claims among the threads of this process."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the claim on a key for the block; gives False if somebody else holds it."""
        with self._lock:
            is_ours = key not in self._held
            self._held.add(key)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._held.discard(key)

    def is_taken(self, key: str) -> bool:
        """Whether somebody is training this run at the moment."""
        return key in self._held


def _order(row: StoredRow) -> tuple[Any, ...]:
    return row.graph, row.model, row.split_rule, row.split_index, row.key
