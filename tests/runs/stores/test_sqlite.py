"""The store: nothing finished is lost, nothing foreign is touched."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from runs.pretend import some_record, some_run

from heterophily.runs.stores.base import StoreError
from heterophily.runs.stores.sqlite import SqliteStore
from heterophily.runs.stores.sqlite_file import APPLICATION, SCHEMA


def test_commits_are_synchronous_and_in_a_write_ahead_log(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "runs.sqlite") as store:
        assert store._base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._base.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def fill(store: SqliteStore) -> None:
    for number in range(1, 1000):
        store.add(some_record(number))


def test_a_full_disk_is_one_sentence_and_costs_no_finished_run(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "runs.sqlite") as store:
        store.add(some_record(0))
        store._base.execute("PRAGMA max_page_count=12")
        with pytest.raises(StoreError, match=r"the disk is full: .* keeps every finished run"):
            fill(store)
        added = len(store)
        assert added > 1
        store._base.execute("PRAGMA max_page_count=100000")  # space is free again
        assert store.add(some_record(2000))
    with SqliteStore(tmp_path / "runs.sqlite") as store:
        assert len(store) == added + 1
        assert sum(1 for _ in store.records()) == added + 1


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refused(path: Path, message: str) -> None:
    before = sha(path)
    with pytest.raises(StoreError, match=message) as caught:
        SqliteStore(path)
    assert "\n" not in str(caught.value)
    assert sha(path) == before


def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but longer than the header of one. " * 100)
    refused(path, r"is damaged \(file is not a database\) and was left as it is")


def test_a_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE things (name TEXT)")
    base.commit()
    base.close()
    refused(path, "is a database of another program")


def test_a_store_of_another_schema_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    SqliteStore(path).close()
    base = sqlite3.connect(path)
    base.execute(f"PRAGMA user_version={SCHEMA + 1}")
    base.close()
    refused(path, f"has schema version {SCHEMA + 1}.*a newer heterophily wrote it")


def test_a_store_of_the_first_schema_is_read_as_it_is_and_migrated_when_it_is_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    with SqliteStore(path) as store:
        store.add(some_record(0), start=store.start(some_run(0).key))
        answers = store.answers()
        store._base.execute("ALTER TABLE starts DROP COLUMN place")
        store._base.execute("PRAGMA user_version=1")
    with SqliteStore(path, is_read_only=True) as store:
        assert (store.schema, store.answers()) == (1, answers)
        assert store.starts() == [(some_run(0).key, 1, 1, "")]
    with SqliteStore(path) as store:
        assert (store.schema, store.answers()) == (SCHEMA, answers)
        store.start(some_run(1).key)
        assert [bool(start.place) for start in store.starts()] == [False, True]


def test_flipped_bits_are_never_a_silent_wrong_value(tmp_path: Path) -> None:
    path, broken = tmp_path / "runs.sqlite", tmp_path / "broken.sqlite"
    with SqliteStore(path) as store:
        store.add_all(map(some_record, range(30)))
        answers = store.answers()
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    outcomes = {"same": 0, "refused": 0}
    for _ in range(200):
        place, bit = int(rng.integers(len(content))), int(rng.integers(8))
        content[place] ^= 1 << bit
        for leftover in tmp_path.glob("broken*"):
            leftover.unlink()
        broken.write_bytes(content)
        content[place] ^= 1 << bit
        try:
            with SqliteStore(broken) as store:
                found = store.answers()
                is_whole = len(store) == 30
        except StoreError:
            outcomes["refused"] += 1
            continue
        assert found == answers
        assert is_whole
        outcomes["same"] += 1  # an unused byte, or a column that only serves the search
    assert outcomes["refused"] > 80


def test_a_name_is_never_an_address_of_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "file:runs.sqlite?mode=memory"
    with SqliteStore(name) as store, SqliteStore(tmp_path / name) as other:
        store.add(some_record(1))
        assert len(other) == 1  # as a worker process sees it


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    with SqliteStore(path) as store:
        assert len(store) == 0
        assert store._base.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/proc/runs.sqlite", "cannot write /proc/runs.sqlite"),
        ("nowhere/runs.sqlite", "there is no folder nowhere"),
        ("/proc", "is not a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_sentence(path: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        SqliteStore(path)


def test_a_command_that_only_reads_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store here"):
        SqliteStore(tmp_path / "runs.sqlite", must_exist=True)
    assert not list(tmp_path.iterdir())


def test_a_store_that_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    """Also in a folder in which the reader may write nothing."""
    path = tmp_path / "kept" / "runs.sqlite"
    path.parent.mkdir()
    with SqliteStore(path) as store:
        store.add(some_record(1))
    before = path.read_bytes()
    for file in (path, path.parent):
        file.chmod(0o555)
    try:
        with SqliteStore(path, is_read_only=True) as store:
            assert len(store) == len(list(store.records())) == 1
            with pytest.raises(StoreError, match="cannot write"):
                store.add(some_record(2))
        if os.geteuid() == 0:  # to whom the rights above mean nothing: ask as somebody else
            for folder in (tmp_path, *list(tmp_path.parents)[:3]):  # a worker has one more
                folder.chmod(folder.stat().st_mode | 0o055)
            os.seteuid(65534)
            try:
                with SqliteStore(path, is_read_only=True) as store:
                    assert len(store) == 1
            finally:
                os.seteuid(0)
        assert path.read_bytes() == before
    finally:
        path.parent.chmod(0o755)


def test_a_store_that_was_cut_to_nothing_is_told_to_readers(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"")
    for how in ({"must_exist": True}, {"is_read_only": True}):
        with pytest.raises(StoreError, match="is empty"):
            SqliteStore(path, **how)
