"""Care of stores: check every record, save the intact ones of a damaged store, back up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heterophily.data.atomic import atomic_path
from heterophily.errors import InputError
from heterophily.runs.record import Record
from heterophily.runs.stores.base import Store, StoreError
from heterophily.runs.stores.rows import record_of
from heterophily.runs.stores.salvage import intact_rows
from heterophily.runs.stores.sqlite import SqliteStore
from heterophily.runs.stores.url import file_of, open_store


@dataclass(frozen=True)
class Health:
    """What a check found. ``problem`` is a sentence about the whole store, if it is damaged."""

    runs: int
    damaged: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None and not self.damaged


def check_store(url: str | None = None) -> Health:
    """Read everything in a store, and compare each record with its checksum."""
    try:
        with open_store(url, is_read_only=True) as store:
            good, damaged = store.intact()
            return Health(len(good), tuple(damaged))
    except StoreError as error:
        path = file_of(url)
        if path is None or "is damaged" not in str(error):
            raise
        return Health(sum(1 for _ in intact_rows(path)), problem=str(error))


def salvage(url: str | None, out: Path) -> int:
    """Take every intact record of a (damaged) store to a new one; return how many."""
    path = file_of(url)
    if path is None:
        with open_store(url, is_read_only=True) as store:
            return _write(store.intact()[0], out)
    if not path.is_file():
        raise InputError(f"{path}: there is no file here; --store names the damaged one")
    found = [record_of(row) for row in intact_rows(path)]
    if not found:
        raise InputError(f"{path} holds no intact record; restore it from a copy, or train again")
    return _write(found, out)


def backup(store: Store, out: Path) -> int:
    """Write all records of one moment to a new file, also while others write; return how many."""
    return _write(list(store.records()), out)


def migrate(url: str | None = None) -> tuple[int, int]:
    """Bring a store to today's schema; return the version before and after."""
    with open_store(url, is_read_only=True) as store:
        before = store.schema
    with open_store(url, must_exist=True) as store:
        return before, store.schema


def _write(records: list[Record], out: Path) -> int:
    """Write records to a new store that appears whole or not at all."""
    if out.exists():
        raise InputError(f"{out} exists; name a new file")
    with atomic_path(out) as temporary, SqliteStore(temporary) as copy:
        return copy.add_all(records)
