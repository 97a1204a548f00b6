"""The store: finished runs in one SQLite file that survives kills, full disks and company.

Write-ahead log with ``synchronous=FULL``: when :meth:`Store.add` returns, the record is on the
disk. Each row carries a checksum, because SQLite does not notice a flipped bit in a value.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from heterophily.errors import HeterophilyError
from heterophily.runs.claims import Claims, claims_of
from heterophily.runs.record import Outcome, Record, digest

SCHEMA = 1
"""Version of the tables below; a store with another one is refused."""

APPLICATION = 0x48455430  # "HET0": marks the file as ours
ENVIRONMENT = "HETEROPHILY_STORE"
DEFAULT = "heterophily-runs.sqlite"

_BUSY_SECONDS = 60.0
_CHUNK = 500  # keys in one question
_TABLES = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY NOT NULL,
    model TEXT NOT NULL, graph TEXT NOT NULL, split_rule TEXT NOT NULL,
    split_index INTEGER NOT NULL,
    content TEXT NOT NULL,
    checksum TEXT NOT NULL
);
CREATE INDEX runs_by_name ON runs (graph, model);
CREATE TABLE starts (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL);
CREATE TABLE finishes (key TEXT PRIMARY KEY NOT NULL, start INTEGER NOT NULL);
"""


class StoreError(HeterophilyError, RuntimeError):
    """The store cannot be opened, read or written; what is in it stays as it is."""


def default_path() -> Path:
    """Return ``HETEROPHILY_STORE``, or ``heterophily-runs.sqlite`` in the current folder."""
    return Path(os.environ.get(ENVIRONMENT) or DEFAULT)


class Store:
    """Finished runs by key; safe for many processes at once.

    Parameters
    ----------
    path
        The file; made when it does not exist, unless ``must_exist``. ``":memory:"`` is an empty
        store that is not kept.
    must_exist
        Refuse to make a new store: for commands that only read.
    is_checked
        Examine the whole file first. A worker process trusts the one that started it.
    is_read_only
        Open it for reading alone: the file and its folder need not be writable.

    Examples
    --------
    >>> import tempfile
    >>> with Store(Path(tempfile.mkdtemp()) / "runs.sqlite") as store:
    ...     len(store), store.get("no such key")
    (0, None)
    """

    def __init__(
        self,
        path: str | Path,
        *,
        must_exist: bool = False,
        is_checked: bool = True,
        is_read_only: bool = False,
    ) -> None:
        self.path = Path(path)
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
            _examine(self.path)
        if is_read_only:
            self._base = _reading(self.path)
            return
        with self._told():
            self._base = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def _prepare(self) -> None:
        _patiently(self._base, "PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=FULL")
        with self._transaction():
            if self._base.execute("PRAGMA application_id").fetchone()[0] == 0:
                for statement in _TABLES.split(";"):
                    self._base.execute(statement)
                self._base.execute(f"PRAGMA application_id={APPLICATION}")
                self._base.execute(f"PRAGMA user_version={SCHEMA}")

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of finished runs."""
        with self._told():
            return int(self._base.execute("SELECT count(*) FROM runs").fetchone()[0])

    def get(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        return next(iter(self.records([key])), None)

    def finished(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a record."""
        found: set[str] = set()
        with self._told():
            for part in _chunks(list(keys)):
                marks = ",".join("?" * len(part))
                rows = self._base.execute(f"SELECT key FROM runs WHERE key IN ({marks})", part)
                found.update(row[0] for row in rows)
        return found

    def records(self, keys: Sequence[str] | None = None) -> Iterator[Record]:
        """Iterate over all records, by graph, model and split; or over those of some keys."""
        order = "ORDER BY graph, model, split_rule, split_index, key"
        if keys is None:
            yield from self._read(f"SELECT key, content, checksum FROM runs {order}", ())
            return
        for part in _chunks(list(keys)):
            marks = ",".join("?" * len(part))
            yield from self._read(
                f"SELECT key, content, checksum FROM runs WHERE key IN ({marks}) {order}", part
            )

    def find(self, start_of_key: str) -> list[Record]:
        """Return the records whose key starts like this."""
        pattern = start_of_key.replace("%", "").replace("_", "") + "%"
        return list(
            self._read("SELECT key, content, checksum FROM runs WHERE key LIKE ?", (pattern,))
        )

    def _read(self, question: str, values: Sequence[Any]) -> Iterator[Record]:
        with self._told():
            rows = self._base.execute(question, values).fetchall()
        for key, content, checksum in rows:
            if digest(key + content) != checksum:
                raise StoreError(
                    f"{self.path}: the record {key[:12]} is damaged (its checksum does not fit); "
                    "restore the file from a copy, or start anew with another --store"
                )
            yield _record(key, json.loads(content))

    def answers(self) -> str:
        """Return one hash of all answers: equal for any two ways that led to the same runs."""
        return digest("\n".join(sorted(record.answer for record in self.records())))

    # --- writing ------------------------------------------------------------------------------

    @property
    def claims(self) -> Claims:
        """The claims on runs of this store."""
        return claims_of(self.path)

    def start(self, key: str) -> int:
        """Note that a run begins; return the number of this beginning."""
        with self._told():
            return int(
                self._base.execute("INSERT INTO starts (key) VALUES (?)", (key,)).lastrowid or 0
            )

    def starts(self) -> list[tuple[str, int, int | None]]:
        """Return (key, number, number of the beginning that was finished) of every beginning."""
        question = "SELECT s.key, s.number, f.start FROM starts s LEFT JOIN finishes f USING (key)"
        with self._told():
            return list(self._base.execute(f"{question} ORDER BY s.number"))

    def add(self, record: Record, *, start: int | None = None) -> bool:
        """Write a record; return False if its key has one already, which then stays."""
        return self.add_all([record], start=start) == 1

    def add_all(self, records: Iterable[Record], *, start: int | None = None) -> int:
        """Write records in one transaction, all or none; return how many were new."""
        rows = [_row(record) for record in records]
        with self._told(), self._transaction():
            before = self._base.total_changes
            self._base.executemany("INSERT OR IGNORE INTO runs VALUES (?,?,?,?,?,?,?)", rows)
            added = self._base.total_changes - before
            if start is not None and added:
                self._base.execute("INSERT INTO finishes VALUES (?,?)", (rows[0][0], start))
        return added

    def close(self) -> None:
        """Close the file; the object is of no use afterwards."""
        self._base.close()

    def __enter__(self) -> Store:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

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
    def _told(self) -> Iterator[None]:
        """Turn an error of the database into one sentence."""
        try:
            yield
        except UnicodeDecodeError as error:  # in what SQLite says about a damaged file
            raise StoreError(_damaged(self.path, "its text is no text")) from error
        except sqlite3.Error as error:
            raise StoreError(_sentence(self.path, error)) from error


def _row(record: Record) -> tuple[Any, ...]:
    content = json.dumps(
        {
            "run": record.run,
            "outcome": record.outcome.to_dict(),
            "versions": record.versions,
            "command": record.command,
            "finished_at": record.finished_at,
        },
        sort_keys=True,
        allow_nan=False,
    )
    run, split = record.run, record.run["split"]
    names = (run["model"], run["graph"]["name"], split["rule"], split["index"])
    return (record.key, *names, content, digest(record.key + content))


def _record(key: str, content: dict[str, Any]) -> Record:
    outcome = Outcome(**content.pop("outcome"))
    return Record(key=key, outcome=outcome, **content)


def _chunks(keys: list[str]) -> Iterator[list[str]]:
    return (keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK))


def _patiently(base: sqlite3.Connection, statement: str) -> None:
    """Repeat a statement for which SQLite does not wait by itself when others are at work."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            base.execute(statement).fetchall()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _reading(path: Path) -> sqlite3.Connection:
    """Open a file for reading; also one in a folder where nothing may be written."""
    place = f"file:{quote(os.fspath(path.absolute()))}?mode=ro"
    last: sqlite3.Error | None = None
    for how in ("", "&immutable=1"):
        if how and path.with_name(f"{path.name}-wal").exists():
            continue  # somebody writes: without its log the file would be old
        try:
            base = sqlite3.connect(
                place + how,
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            base.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return base
        except UnicodeDecodeError as error:  # in what SQLite says about a damaged file
            raise StoreError(_damaged(path, "its text is no text")) from error
        except sqlite3.Error as error:
            last = error
    assert last is not None
    raise StoreError(_sentence(path, last)) from last


def _examine(path: Path) -> None:
    """Refuse a file that is no store, a damaged one or one of another version, untouched."""
    try:
        base = _reading(path)
        try:
            application = base.execute("PRAGMA application_id").fetchone()[0]
            schema = base.execute("PRAGMA user_version").fetchone()[0]
            is_empty = not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            problem = base.execute("PRAGMA integrity_check(1)").fetchone()[0]
        finally:
            base.close()
    except UnicodeDecodeError as error:
        raise StoreError(_damaged(path, "its text is no text")) from error
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, error)) from error
    if problem != "ok":
        raise StoreError(_damaged(path, problem))
    if application == 0 and is_empty:
        return  # made, but its maker was killed before the tables were
    if application != APPLICATION:
        raise StoreError(f"{path} is a database of another program; --store names another file")
    if schema != SCHEMA:
        raise StoreError(
            f"{path} has schema version {schema}, this program writes {SCHEMA}: export it with "
            "the program that wrote it (heterophily runs export), or start anew with another "
            "--store"
        )


def _damaged(path: Path, problem: str) -> str:
    return (
        f"{path} is damaged ({problem.splitlines()[0]}) and was left as it is; restore it from a "
        "copy, or start anew with another --store"
    )


def _sentence(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text:
        return (
            f"the disk is full: {path} keeps every finished run; free some space and give the "
            "same command again"
        )
    if "malformed" in text or "not a database" in text or "disk image" in text:
        return _damaged(path, text)
    if "readonly" in text or "unable to open" in text:
        return f"cannot write {path} ({text}); choose another place with --store"
    if "locked" in text:
        return f"{path} was busy for {_BUSY_SECONDS:.0f} s ({text}); try again"
    return f"{path}: {text}"
