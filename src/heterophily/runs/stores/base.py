"""What every store promises: finished runs by key, and claims on those in work. No torch here.

``tests/runs/stores/contract`` asks every promise below of every kind of store. A new kind is one
class with these methods, a line in :data:`~heterophily.runs.stores.url.KINDS`, and a line in that
suite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self

from heterophily.errors import HeterophilyError, InputError
from heterophily.runs.record import Record, digest
from heterophily.runs.stores.rows import StoredRow, is_intact, record_of

Reach = Literal["process", "machine", "network"]
"""How far away a process may be that opens a store by its URL."""


class StoreError(HeterophilyError, RuntimeError):
    """The store cannot be opened, read or written; what is in it stays as it is."""


class Claims(Protocol):
    """Who trains which run at the moment.

    A claim has at most one holder among all processes and threads that have opened the store. It
    ends with its block or with the life of its holder, whatever ends that; there are no leases
    and no clocks. Losing a claim is harmless: the same run is trained twice, with equal answers,
    and the first record stays.
    """

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Hold the claim on a key for the block; gives False if somebody else holds it."""
        ...

    def is_taken(self, key: str) -> bool:
        """Whether somebody is training this run at the moment."""
        ...


class Start(NamedTuple):
    """A beginning of a run: beginnings are numbered in their order.

    ``finish`` is the number of the beginning that gave the record of this key; None if the key
    has none. ``place`` is the host and the process, ``""`` in stores of earlier versions.
    """

    key: str
    number: int
    finish: int | None
    place: str

    @property
    def is_repeated(self) -> bool:
        """Whether the run was begun again although its record was there."""
        return self.finish is not None and self.number > self.finish


class Store(ABC):
    """A place for finished runs; many processes and threads may use one store at once.

    Promises of every kind:

    - When :meth:`add` returns, the record survives the death of every process (except for a
      store in memory, which is one process).
    - The first record of a key stays; a second one is ignored. So a run may be executed twice.
    - What one holder of the store has added, all others read from then on.
    - A damaged record is an error when it is read, never a wrong value.
    - Every failure is a :class:`StoreError`: one sentence that says what to do.
    """

    url: str
    """How a process within reach opens the same store: this is what a job carries."""
    name: str
    """For people: a path, or a URL without its password."""
    reach: Reach

    @property
    @abstractmethod
    def schema(self) -> int:
        """Version of the tables; older ones are migrated when written, newer ones refused."""

    # --- reading ------------------------------------------------------------------------------

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of finished runs."""

    @abstractmethod
    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a record; any number of keys may be asked for."""

    @abstractmethod
    def _rows(self, keys: Sequence[str] | None) -> Iterable[StoredRow]:
        """Return all rows by graph, model and split, at one moment; or those of some keys."""

    @abstractmethod
    def _rows_like(self, start_of_key: str) -> Iterable[StoredRow]:
        """Return the rows whose key starts like this (hexadecimal digits)."""

    @abstractmethod
    def starts(self) -> list[Start]:
        """Return every beginning of a run, in order."""

    @property
    @abstractmethod
    def claims(self) -> Claims:
        """The claims on runs of this store."""

    @property
    @abstractmethod
    def artefact_folder(self) -> Path:
        """Where files that belong to records lie; it need not exist yet."""

    def records(self, keys: Sequence[str] | None = None) -> Iterator[Record]:
        """Iterate over all records, by graph, model and split; or over those of some keys."""
        return self._read(self._rows(keys))

    def get(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        return next(self.records([key]), None)

    def find(self, start_of_key: str) -> list[Record]:
        """Return the records whose key starts like this."""
        is_key = set(start_of_key) <= set("0123456789abcdef")
        return list(self._read(self._rows_like(start_of_key) if is_key else ()))

    def answers(self) -> str:
        """Return one hash of all answers: equal for any two ways that led to the same runs."""
        return digest("\n".join(sorted(record.answer for record in self.records())))

    def intact(self) -> tuple[list[Record], list[str]]:
        """Return all records that fit their checksums, and the keys of those that do not."""
        rows = list(self._rows(None))
        good = [record_of(row) for row in rows if is_intact(row)]
        return good, [row.key for row in rows if not is_intact(row)]

    def _read(self, rows: Iterable[StoredRow]) -> Iterator[Record]:
        for row in rows:
            if not is_intact(row):
                raise StoreError(
                    f"{self.name}: the record {row.key[:12]} is damaged (its checksum does not "
                    "fit); heterophily runs salvage takes the intact ones to a new store"
                )
            yield record_of(row)

    # --- writing ------------------------------------------------------------------------------

    @abstractmethod
    def start(self, key: str) -> int:
        """Note that a run begins; return the number of this beginning."""

    @abstractmethod
    def add_all(self, records: Iterable[Record], *, start: int | None = None) -> int:
        """Write records, all or none; return how many were new.

        ``start`` is the beginning that gave the (single) record.
        """

    def add(self, record: Record, *, start: int | None = None) -> bool:
        """Write a record; return False if its key has one already, which then stays."""
        return self.add_all([record], start=start) == 1

    # --- the object ---------------------------------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections; the object is of no use afterwards."""

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()


def check_is_store(store: object) -> None:
    """Refuse the name of a store where an open one is needed."""
    if not isinstance(store, Store):
        raise InputError(
            f"store={store!r}; open it first: with heterophily.open_store({str(store)!r}) as "
            "store: ..., and pass store=store"
        )
