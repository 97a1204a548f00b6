"""What a file must be to be a store: opened for reading, examined, and its errors in words."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from heterophily.runs.stores.base import StoreError

SCHEMA = 2
"""Version of the tables; an older store is migrated when it is written, a newer one is refused."""

APPLICATION = 0x48455430  # "HET0": marks the file as ours

BUSY_SECONDS = 60.0


def patiently(base: sqlite3.Connection, statement: str) -> None:
    """Repeat a statement for which SQLite does not wait by itself when others are at work."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            base.execute(statement).fetchall()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def reading(path: Path) -> sqlite3.Connection:
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
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            base.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return base
        except UnicodeDecodeError as error:  # in what SQLite says about a damaged file
            raise StoreError(damaged(path, "its text cannot be read")) from error
        except sqlite3.Error as error:
            last = error
    assert last is not None
    raise StoreError(sentence(path, last)) from last


def examine(path: Path) -> None:
    """Refuse a file that is no store, a damaged one or one of another version, untouched."""
    try:
        base = reading(path)
        try:
            known_schema(base, path)
            problem = base.execute("PRAGMA integrity_check(1)").fetchone()[0]
        finally:
            base.close()
    except UnicodeDecodeError as error:
        raise StoreError(damaged(path, "its text cannot be read")) from error
    except sqlite3.Error as error:
        raise StoreError(sentence(path, error)) from error
    if problem != "ok":
        raise StoreError(damaged(path, problem.splitlines()[-1]))  # the first names the database


def known_schema(base: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a store, 0 for an empty file; refuse everything else."""
    application = base.execute("PRAGMA application_id").fetchone()[0]
    schema = int(base.execute("PRAGMA user_version").fetchone()[0])
    is_empty = not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == 0 and is_empty:
        return 0  # new, or its maker was killed before the tables were made
    if application != APPLICATION:
        raise StoreError(f"{path} is a database of another program; --store names another file")
    if schema > SCHEMA:
        raise StoreError(
            f"{path} has schema version {schema}, this program knows {SCHEMA}: a newer heterophily "
            "wrote it; update this one, or name another file with --store"
        )
    return schema


def damaged(path: Path, problem: str) -> str:
    """Say that a file is damaged, and what to do."""
    return (
        f"{path} is damaged ({problem.splitlines()[0]}) and was left as it is; heterophily runs "
        "salvage takes the intact records to a new store"
    )


def sentence(path: Path, error: sqlite3.Error) -> str:
    """Turn an error of the database into one sentence."""
    text = str(error)
    if "full" in text:
        return (
            f"the disk is full: {path} keeps every finished run; free some space and give the "
            "same command again"
        )
    if "malformed" in text or "not a database" in text or "disk image" in text:
        return damaged(path, text)
    if "readonly" in text or "unable to open" in text:
        return f"cannot write {path} ({text}); choose another place with --store"
    if "locked" in text:
        return f"{path} was busy for {BUSY_SECONDS:.0f} s ({text}); try again"
    return f"{path}: {text}"
