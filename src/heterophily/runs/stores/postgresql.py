"""Finished runs on a PostgreSQL server, for workers on many machines (extra ``cluster``).

Claims are session advisory locks: the server drops them when a holder's connection ends. A machine
that vanishes from the network ends no connection, so both sides ask each other every few seconds
(keepalives): its claims are free after about ten seconds instead of hours.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from heterophily.data.catalog import cache_folder
from heterophily.errors import MissingExtraError
from heterophily.runs.record import Record, digest
from heterophily.runs.stores.base import Claims, Reach, Start, Store, StoreError
from heterophily.runs.stores.rows import ORDER, StoredRow, place, row_of
from heterophily.runs.stores.url import without_password

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

SCHEMA = 1
"""Version of the tables below; a server with newer ones is refused."""

ARTEFACTS = "HETEROPHILY_ARTEFACTS"
"""Environment variable: the folder, shared by all machines, of files that belong to records."""

AWAY_SECONDS = 60.0
"""How long a server that is restarted is waited for."""

SERVER_OPTIONS = (
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 "
    "-c tcp_user_timeout=10000"
)
CLIENT_OPTIONS: dict[str, Any] = {
    "application_name": "heterophily",
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10000,
}

_MAKE = 0x48455430  # lock while the tables are made
_COLUMNS = ", ".join(StoredRow._fields)
_TABLES = """
CREATE SCHEMA IF NOT EXISTS heterophily;
CREATE TABLE heterophily.about (schema INTEGER NOT NULL);
CREATE TABLE heterophily.runs (
    key TEXT COLLATE "C" PRIMARY KEY,
    model TEXT COLLATE "C" NOT NULL, graph TEXT COLLATE "C" NOT NULL,
    split_rule TEXT COLLATE "C" NOT NULL, split_index INTEGER NOT NULL,
    content TEXT NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE heterophily.starts (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key TEXT COLLATE "C" NOT NULL, place TEXT NOT NULL
);
CREATE TABLE heterophily.finishes (key TEXT COLLATE "C" PRIMARY KEY, start BIGINT NOT NULL);
"""


class PostgresStore(Store):
    """Finished runs in the schema ``heterophily`` of a database, one connection per object.

    A connection that breaks is made anew, and the question asked again: every statement here may
    be repeated without harm.
    """

    reach: Reach = "network"

    def __init__(self, url: str, *, must_exist: bool = False, is_read_only: bool = False) -> None:
        self.url, self.name = url, without_password(url)
        self._is_read_only = is_read_only
        self._lock = threading.RLock()
        self._held: set[int] = set()
        self._base: Connection[Any] = self._connect()
        try:
            if not self._is_made():
                if must_exist or is_read_only:
                    raise StoreError(f"{self.name}: there is no store in this database")
                self._do(self._make)
        except BaseException:
            self._base.close()
            raise

    @classmethod
    def open(cls, url: str, *, is_checked: bool = True, **options: bool) -> PostgresStore:
        """Open the store that a URL names; the server examines its own files."""
        return cls(url, **options)

    # --- the connection -----------------------------------------------------------------------

    def _connect(self) -> Connection[Any]:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise MissingExtraError(
                "a postgresql:// store needs an extra: pip install 'heterophily[cluster]'"
            ) from error
        try:
            given = conninfo_to_dict(self.url)
            own = " -c default_transaction_read_only=on" if self._is_read_only else ""
            options = f"{SERVER_OPTIONS}{own} {given.pop('options', None) or ''}"
            asked: dict[str, Any] = {**CLIENT_OPTIONS, **given, "options": options}
            return psycopg.connect(**asked, autocommit=True)
        except psycopg.Error as error:
            raise StoreError(f"cannot reach the store {self.name}: {_line(error)}") from error

    def _do(self, ask: Callable[[Connection[Any]], T]) -> T:
        """Ask the server; after a broken connection, connect and ask again for a while."""
        import psycopg

        deadline = time.monotonic() + AWAY_SECONDS
        with self._lock:
            while True:
                try:
                    return ask(self._base)
                except psycopg.Error as error:
                    if not self._base.broken:
                        raise StoreError(self._sentence(error)) from error
                    self._renew(deadline)

    def _renew(self, deadline: float) -> None:
        """Connect again; the claims ended with the old connection and are taken again."""
        self._base.close()
        while True:
            try:
                self._base = self._connect()
                break
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
        for number in self._held:
            self._base.execute("SELECT pg_try_advisory_lock(%s)", (number,))

    def _sentence(self, error: Exception) -> str:
        import psycopg

        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            return f"cannot write {self.name}: it was opened for reading alone"
        if isinstance(error, psycopg.errors.DiskFull):
            return (
                f"the disk of the server is full: {self.name} keeps every finished run; free some "
                "space and give the same command again"
            )
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return f"{self.name}: this user may not do that ({_line(error)})"
        return f"{self.name}: {_line(error)}"

    def _is_made(self) -> bool:
        """Whether the tables are there; refuse those of a newer program."""
        is_there = self._one("SELECT to_regclass('heterophily.about') IS NOT NULL")
        if not is_there:
            return False
        schema = self._one("SELECT schema FROM heterophily.about")
        if schema is not None and schema > SCHEMA:
            raise StoreError(
                f"{self.name} has schema version {schema}, this program knows {SCHEMA}: a newer "
                "heterophily wrote it; update this one, or name another database with --store"
            )
        return schema is not None

    def _make(self, base: Connection[Any]) -> None:
        # The lock comes before the transaction, which then sees what others made meanwhile.
        base.execute("SELECT pg_advisory_lock(%s)", (_MAKE,))
        with base.transaction():
            if not self._is_made():
                base.execute(_TABLES)
                base.execute("INSERT INTO heterophily.about VALUES (%s)", (SCHEMA,))
        base.execute("SELECT pg_advisory_unlock(%s)", (_MAKE,))

    def _one(self, question: str, values: Sequence[Any] = ()) -> Any:
        """Return the first value of the first row, or None."""
        row = self._do(lambda base: base.execute(question, values).fetchone())
        return None if row is None else row[0]

    @property
    def schema(self) -> int:
        """Version of the tables on the server."""
        return int(self._one("SELECT schema FROM heterophily.about"))

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of finished runs."""
        return int(self._one("SELECT count(*) FROM heterophily.runs"))

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a record."""
        asked = list(keys)
        question = "SELECT key FROM heterophily.runs WHERE key = ANY(%s)"
        rows = self._do(lambda base: base.execute(question, (asked,)).fetchall())
        return {row[0] for row in rows}

    def _rows(self, keys: Sequence[str] | None) -> Iterable[StoredRow]:
        if keys is None:
            return self._ask(f"SELECT {_COLUMNS} FROM heterophily.runs ORDER BY {ORDER}", ())
        question = f"SELECT {_COLUMNS} FROM heterophily.runs WHERE key = ANY(%s) ORDER BY {ORDER}"
        return self._ask(question, (list(keys),))

    def _rows_like(self, start_of_key: str) -> Iterable[StoredRow]:
        question = f"SELECT {_COLUMNS} FROM heterophily.runs WHERE key LIKE %s ORDER BY {ORDER}"
        return self._ask(question, (f"{start_of_key}%",))

    def _ask(self, question: str, values: Sequence[Any]) -> list[StoredRow]:
        rows = self._do(lambda base: base.execute(question, values).fetchall())
        return [StoredRow(*row) for row in rows]

    def starts(self) -> list[Start]:
        """Return every beginning of a run, in order."""
        question = (
            "SELECT s.key, s.number, f.start, s.place FROM heterophily.starts s "
            "LEFT JOIN heterophily.finishes f USING (key) ORDER BY s.number"
        )
        return [Start(*row) for row in self._do(lambda base: base.execute(question).fetchall())]

    @property
    def claims(self) -> Claims:
        """The claims on runs of this store: locks of the server."""
        return AdvisoryClaims(self)

    @property
    def artefact_folder(self) -> Path:
        """The folder that ``HETEROPHILY_ARTEFACTS`` names; else one of this machine alone."""
        folder = os.environ.get(ARTEFACTS)
        if folder:
            return Path(folder).absolute()
        return cache_folder() / "artefacts" / digest(self.name)[:16]

    # --- writing ------------------------------------------------------------------------------

    def start(self, key: str) -> int:
        """Note that a run begins; return the number of this beginning."""
        statement = "INSERT INTO heterophily.starts (key, place) VALUES (%s, %s) RETURNING number"
        return int(self._one(statement, (key, place())))

    def add_all(self, records: Iterable[Record], *, start: int | None = None) -> int:
        """Write records in one transaction, all or none; return how many were new."""
        rows = [row_of(record) for record in records]
        return self._do(lambda base: self._add(base, rows, start)) if rows else 0

    def _add(self, base: Connection[Any], rows: list[StoredRow], start: int | None) -> int:
        insert = "INSERT INTO heterophily.runs VALUES (%s,%s,%s,%s,%s,%s,%s) ON CONFLICT DO NOTHING"
        with base.transaction(), base.cursor() as cursor:
            cursor.executemany(insert, rows)
            added = max(cursor.rowcount, 0)
            if start is not None and added:
                cursor.execute(
                    "INSERT INTO heterophily.finishes VALUES (%s,%s)", (rows[0].key, start)
                )
        return added

    def close(self) -> None:
        """Close the connection, and with it drop all claims."""
        self._base.close()


class AdvisoryClaims:
    """Session advisory locks of the connection of a store."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the claim on a key for the block; gives False if somebody else holds it."""
        number = int(key[:15], 16)  # 60 bits: within a whole number of the server
        is_ours = self._take(number)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._drop(number)

    def is_taken(self, key: str) -> bool:
        """Whether somebody is training this run at the moment."""
        with self.claim(key) as is_ours:
            return not is_ours

    def _take(self, number: int) -> bool:
        store = self._store
        with store._lock:
            if number in store._held:  # by another thread: the server would grant it again
                return False
            if not store._one("SELECT pg_try_advisory_lock(%s)", (number,)):
                return False
            store._held.add(number)
            return True

    def _drop(self, number: int) -> None:
        store = self._store
        with store._lock:
            store._held.discard(number)
            store._one("SELECT pg_advisory_unlock(%s)", (number,))


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
