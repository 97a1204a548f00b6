"""Finished runs in one SQLite file that survives kill -9, a full disk and concurrent processes.

Write-ahead log with ``synchronous=FULL``: when :meth:`SqliteStore.add` returns, the record is on
the disk. Each row carries a checksum, because SQLite does not notice a flipped bit in a value.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from heterophily.runs.claims import claims_of
from heterophily.runs.record import Record
from heterophily.runs.stores.base import Claims, Reach, Start, Store, StoreError
from heterophily.runs.stores.rows import ORDER, StoredRow, place, row_of
from heterophily.runs.stores.sqlite_file import (
    APPLICATION,
    BUSY_SECONDS,
    SCHEMA,
    damaged,
    examine,
    known_schema,
    patiently,
    reading,
    sentence,
)

_CHUNK = 500  # keys in one question
_COLUMNS = ", ".join(StoredRow._fields)
_TABLES = (
    """CREATE TABLE runs (
    key TEXT PRIMARY KEY NOT NULL,
    model TEXT NOT NULL, graph TEXT NOT NULL, split_rule TEXT NOT NULL,
    split_index INTEGER NOT NULL,
    content TEXT NOT NULL,
    checksum TEXT NOT NULL
)""",
    "CREATE INDEX runs_by_name ON runs (graph, model)",
    "CREATE TABLE starts (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL)",
    "CREATE TABLE finishes (key TEXT PRIMARY KEY NOT NULL, start INTEGER NOT NULL)",
)
MIGRATIONS = {
    0: (*_TABLES, f"PRAGMA application_id={APPLICATION}"),
    1: ("ALTER TABLE starts ADD COLUMN place TEXT NOT NULL DEFAULT ''",),
}
"""By schema version: what leads to the next one. A new file begins at 0."""


class SqliteStore(Store):
    """Finished runs in one file on a local disk (see :func:`~heterophily.open_store`).

    >>> import tempfile
    >>> with SqliteStore(Path(tempfile.mkdtemp()) / "runs.sqlite") as store:
    ...     len(store), store.get("no such key")
    (0, None)
    """

    reach: Reach = "machine"

    def __init__(
        self,
        path: str | Path,
        *,
        must_exist: bool = False,
        is_checked: bool = True,
        is_read_only: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        self.path = Path(path)
        self.name = str(path)
        self.url = f"sqlite:///{self.path.absolute()}"
        must_exist = must_exist or is_read_only
        if not self.path.exists():
            if must_exist:
                raise StoreError(f"{self.path}: there is no store here; --store names its file")
            if not self.path.parent.is_dir():
                raise StoreError(f"cannot make {self.path}: there is no folder {self.path.parent}")
        elif not self.path.is_file():
            raise StoreError(f"{self.path} is not a file; --store names the file of a store")
        elif must_exist and self.path.stat().st_size == 0:
            raise StoreError(
                f"{self.path} is empty: it holds no store, or was cut off; restore it from a copy"
            )
        elif is_checked and self.path.stat().st_size:
            examine(self.path)
        if is_read_only:
            self._base = reading(self.path)
            return
        with self._guarded():
            self._base = sqlite3.connect(  # absolute: file:a.sqlite?mode=memory is a name here
                self.path.absolute(),
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            patiently(self._base, "PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            self._migrate()

    @classmethod
    def open(cls, url: str, **options: bool) -> SqliteStore:
        """Open the store that a URL (``sqlite:///FILE``) or a path names."""
        return cls(url.removeprefix("sqlite:///"), **options)

    @property
    def schema(self) -> int:
        """Version of the tables in the file."""
        with self._guarded():
            return int(self._base.execute("PRAGMA user_version").fetchone()[0])

    def _migrate(self) -> None:
        """Bring the tables to today's version: all steps in one transaction."""
        if self.schema == SCHEMA:
            return
        with self._transaction():
            for version in range(known_schema(self._base, self.path), SCHEMA):
                for statement in MIGRATIONS[version]:
                    self._base.execute(statement)
            self._base.execute(f"PRAGMA user_version={SCHEMA}")

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of finished runs."""
        with self._guarded():
            return int(self._base.execute("SELECT count(*) FROM runs").fetchone()[0])

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a record."""
        found: set[str] = set()
        with self._guarded():
            for part in _chunks(list(keys)):
                marks = ",".join("?" * len(part))
                rows = self._base.execute(f"SELECT key FROM runs WHERE key IN ({marks})", part)
                found.update(row[0] for row in rows)
        return found

    def _rows(self, keys: Sequence[str] | None) -> Iterator[StoredRow]:
        question = f"SELECT {_COLUMNS} FROM runs"
        if keys is None:
            yield from self._ask(f"{question} ORDER BY {ORDER}", ())
            return
        for part in _chunks(list(keys)):
            marks = ",".join("?" * len(part))
            yield from self._ask(f"{question} WHERE key IN ({marks}) ORDER BY {ORDER}", part)

    def _rows_like(self, start_of_key: str) -> Iterable[StoredRow]:
        question = f"SELECT {_COLUMNS} FROM runs WHERE key LIKE ? ORDER BY {ORDER}"
        return self._ask(question, [f"{start_of_key}%"])

    def _ask(self, question: str, values: Sequence[str]) -> list[StoredRow]:
        with self._guarded():
            return [StoredRow(*row) for row in self._base.execute(question, values)]

    def starts(self) -> list[Start]:
        """Return every beginning of a run, in order."""
        where = "s.place" if self.schema > 1 else "''"
        question = (
            f"SELECT s.key, s.number, f.start, {where} FROM starts s "
            "LEFT JOIN finishes f USING (key) ORDER BY s.number"
        )
        with self._guarded():
            return [Start(*row) for row in self._base.execute(question)]

    @property
    def claims(self) -> Claims:
        """The claims on runs of this store: byte locks of a file beside it."""
        return claims_of(self.path)

    @property
    def artefact_folder(self) -> Path:
        """The folder ``FILE-artefacts`` beside the file."""
        return self.path.with_name(f"{self.path.name}-artefacts")

    # --- writing ------------------------------------------------------------------------------

    def start(self, key: str) -> int:
        """Note that a run begins; return the number of this beginning."""
        with self._guarded():
            statement = "INSERT INTO starts (key, place) VALUES (?,?)"
            return int(self._base.execute(statement, (key, place())).lastrowid or 0)

    def add_all(self, records: Iterable[Record], *, start: int | None = None) -> int:
        """Write records in one transaction, all or none; return how many were new."""
        rows = [row_of(record) for record in records]
        with self._guarded(), self._transaction():
            before = self._base.total_changes
            self._base.executemany("INSERT OR IGNORE INTO runs VALUES (?,?,?,?,?,?,?)", rows)
            added = self._base.total_changes - before
            if start is not None and added:
                self._base.execute("INSERT INTO finishes VALUES (?,?)", (rows[0].key, start))
        return added

    def close(self) -> None:
        """Close the file; the object is of no use afterwards."""
        self._base.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let one thread at a time in; turn an error of the database into one sentence."""
        try:
            with self._lock:
                yield
        except UnicodeDecodeError as error:  # in what SQLite says about a damaged file
            raise StoreError(damaged(self.path, "its text cannot be read")) from error
        except sqlite3.Error as error:
            raise StoreError(sentence(self.path, error)) from error


def _chunks(keys: list[str]) -> Iterator[list[str]]:
    return (keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK))
