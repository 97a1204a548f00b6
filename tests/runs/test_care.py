"""Check, salvage, migrate, back up."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from runs.pretend import some_outcome, some_record, some_run

from heterophily.errors import InputError
from heterophily.runs.care import backup, check_store, migrate, salvage
from heterophily.runs.record import Record
from heterophily.runs.stores.salvage import intact_rows
from heterophily.runs.stores.sqlite import SqliteStore
from heterophily.runs.stores.sqlite_file import SCHEMA

TESTS = Path(__file__).resolve().parents[1]


def long_record(number: int) -> Record:
    """A record that goes on in overflow pages."""
    record, run = some_record(number), some_run(number)
    scores = {"text": "abcdefghij" * (300 + 700 * (number % 5))}
    return replace(record, outcome=replace(some_outcome(run), scores=scores))


def filled(path: Path, count: int, make: Callable[[int], Record] = some_record) -> dict[str, str]:
    with SqliteStore(path) as store:
        store.add_all(map(make, range(count)))
        return {record.key: record.answer for record in store.records()}


@pytest.mark.parametrize("make", [some_record, long_record])
def test_a_whole_store_gives_back_every_record(
    tmp_path: Path, make: Callable[[int], Record]
) -> None:
    answers = filled(tmp_path / "runs.sqlite", 40, make)
    assert salvage(str(tmp_path / "runs.sqlite"), tmp_path / "new.sqlite") == 40
    with SqliteStore(tmp_path / "new.sqlite") as saved:
        assert {record.key: record.answer for record in saved.records()} == answers


@pytest.mark.parametrize("make", [some_record, long_record])
def test_every_record_without_damage_is_saved(
    tmp_path: Path, make: Callable[[int], Record]
) -> None:
    """Of the bytes of a store any may change: only records that hold one of them are lost."""
    path, broken = tmp_path / "runs.sqlite", tmp_path / "broken.sqlite"
    answers = filled(path, 40, make)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(30):
        damaged = bytearray(content)
        places = rng.integers(len(content), size=3)
        for place in places:
            damaged[place] ^= 1 << int(rng.integers(8))
        broken.write_bytes(damaged)
        saved = {row.key for row in intact_rows(broken)}
        assert saved <= set(answers)
        assert len(saved) >= len(answers) - len(places)


def test_zeroed_pages_cost_their_own_records_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    answers = filled(path, 60)
    content = bytearray(path.read_bytes())
    keys_of_page = [
        {key for key in answers if key.encode() in content[at : at + 4096]}
        for at in range(0, len(content), 4096)
    ]
    for number, keys in enumerate(keys_of_page):
        damaged = content.copy()
        damaged[4096 * number : 4096 * (number + 1)] = bytes(4096)
        path.write_bytes(damaged)
        assert {row.key for row in intact_rows(path)} >= set(answers) - keys


def test_records_of_the_log_are_saved_too(tmp_path: Path) -> None:
    path, copy = tmp_path / "runs.sqlite", tmp_path / "copy.sqlite"
    with SqliteStore(path) as store:
        store.add_all(map(some_record, range(9)))
        copy.write_bytes(path.read_bytes())
        copy.with_name("copy.sqlite-wal").write_bytes(Path(f"{path}-wal").read_bytes())
    assert len(list(intact_rows(copy))) == 9


def test_a_check_tells_a_good_store_from_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    filled(path, 5)
    assert check_store(str(path)).is_good
    with SqliteStore(path) as store:
        store._base.execute("UPDATE runs SET content = replace(content, 'stopped', 'x') WHERE 1=1")
        store.add(some_record(7))
    health = check_store(str(path))
    assert (health.runs, len(health.damaged), health.is_good) == (1, 5, False)
    content = bytearray(path.read_bytes())
    content[4096:4200] = bytes(104)
    path.write_bytes(content)
    health = check_store(str(path))
    assert health.problem is not None
    assert "runs salvage" in health.problem


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    filled(path, 2)
    with SqliteStore(path) as store:
        for call in (lambda: backup(store, path), lambda: salvage(str(path), path)):
            with pytest.raises(InputError, match="exists; name a new file"):
                call()
    with pytest.raises(InputError, match="there is no file here"):
        salvage(str(tmp_path / "none.sqlite"), tmp_path / "new.sqlite")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["runs.sqlite"]


WRITER = """
import sys
from runs.pretend import some_record
from heterophily.runs.stores.sqlite import SqliteStore
with SqliteStore(sys.argv[1]) as store:
    for number in range(0, 100000, 2):
        store.add_all([some_record(number), some_record(number + 1)])
        if number == 0:
            print("writing", flush=True)
"""


def test_a_backup_under_a_writer_is_of_one_moment(tmp_path: Path) -> None:
    """The writer adds two records at a time: a backup never holds half of them."""
    path = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            for number in range(4):
                copy = tmp_path / f"copy{number}.sqlite"
                with SqliteStore(path, is_read_only=True) as store:
                    count = backup(store, copy)
                assert count % 2 == 0
                with SqliteStore(copy) as copied:
                    indices = {record.run["split"]["index"] for record in copied.records()}
                    assert indices == set(range(count))
        finally:
            writer.kill()
    assert not list(tmp_path.glob("*copy*-wal"))


def test_an_older_schema_is_migrated_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    answers = filled(path, 3)
    base = sqlite3.connect(path)
    base.execute("ALTER TABLE starts DROP COLUMN place")
    base.execute("PRAGMA user_version=1")
    base.close()
    assert migrate(str(path)) == (1, SCHEMA)
    assert migrate(str(path)) == (SCHEMA, SCHEMA)
    with SqliteStore(path) as store:
        assert {record.key: record.answer for record in store.records()} == answers
    base = sqlite3.connect(path)
    base.execute(f"PRAGMA user_version={SCHEMA + 1}")
    base.close()
    with pytest.raises(Exception, match="a newer heterophily wrote it"):
        migrate(str(path))


def test_a_file_without_any_record_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "noise.sqlite"
    path.write_bytes(bytes(range(256)) * 20)
    with pytest.raises(InputError, match="holds no intact record"):
        salvage(str(path), tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_what_sqlite_finds_wrong_is_said_without_its_heading(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    filled(path, 40)
    content = bytearray(path.read_bytes())
    middle = 4096 * (len(content) // 8192)
    content[middle : middle + 3] = b"\xff\x00\x7f"
    path.write_bytes(content)
    health = check_store(str(path))
    assert health.problem is not None
    assert "***" not in health.problem
