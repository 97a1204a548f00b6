"""What every kind of store promises; ``heterophily.runs.stores.base`` says it in words."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from runs.pretend import some_record, some_run

from heterophily.runs.record import Record
from heterophily.runs.stores.base import Store, StoreError
from heterophily.runs.stores.url import open_store

TESTS = Path(__file__).resolve().parents[3]


def same(found: Record | None, record: Record) -> bool:
    return found is not None and found.to_row() == record.to_row() and found.run == record.run


def test_what_was_added_comes_back_bit_for_bit(store: Store, again: Store) -> None:
    records = [some_record(number) for number in range(5)]
    assert store.add_all(records) == 5
    for opened in (store, again):
        assert len(opened) == 5
        assert all(same(opened.get(record.key), record) for record in records)
    assert store.get("0" * 64) is None


def test_the_first_record_of_a_key_stays(store: Store, again: Store) -> None:
    assert store.add(some_record(0))
    before = store.answers()
    assert not again.add(some_record(0))
    assert store.add_all(map(some_record, range(3))) == 2
    assert store.add_all([]) == 0
    assert len(store) == 3
    assert store.answers() != before


def test_any_number_of_keys_may_be_asked_for(store: Store) -> None:
    store.add_all(map(some_record, range(1203)))
    keys = [some_run(number).key for number in range(1300)]
    assert store.finished(iter(keys)) == set(keys[:1203])
    assert store.finished([]) == set()
    assert {record.key for record in store.records(keys)} == set(keys[:1203])


def test_records_come_in_the_order_of_graph_model_and_split(store: Store) -> None:
    store.add_all(some_record(number) for number in (12, 2, 7, 0))
    assert [record.run["split"]["index"] for record in store.records()] == [0, 2, 7, 12]


def test_a_run_is_found_by_the_start_of_its_key(store: Store) -> None:
    store.add_all(map(some_record, range(20)))
    key = some_run(3).key
    assert [record.key for record in store.find(key[:10])] == [key]
    assert len(store.find("")) == 20
    for strange in ("%", "_" * 64, "'; DROP TABLE runs; --", "\0", key.upper()):
        assert store.find(strange) == []


def test_answers_do_not_depend_on_the_order_of_arrival(new_store: Callable[[], Store]) -> None:
    first, second = new_store(), new_store()
    first.add_all(map(some_record, range(6)))
    for number in reversed(range(6)):
        second.add(some_record(number))
    assert first.answers() == second.answers()
    assert len(new_store()) == 0


def test_beginnings_are_numbered_and_know_which_of_them_was_finished(store: Store) -> None:
    first, second = store.start(some_run(0).key), store.start(some_run(1).key)
    third = store.start(some_run(0).key)
    assert first < second < third
    store.add(some_record(0), start=third)
    late = store.start(some_run(0).key)
    told = [(start.number, start.finish, start.is_repeated) for start in store.starts()]
    assert told == [
        (first, third, False),
        (second, None, False),
        (third, third, False),
        (late, third, True),
    ]
    assert all(start.place.partition(":")[2].isdigit() for start in store.starts())


def test_a_claim_has_one_holder_and_ends_with_its_block(store: Store, again: Store) -> None:
    key, other = some_run(0).key, some_run(1).key
    with store.claims.claim(key) as is_ours:
        assert is_ours
        assert store.claims.is_taken(key)
        assert again.claims.is_taken(key)
        assert not again.claims.is_taken(other)
        for claims in (store.claims, again.claims):
            with claims.claim(key) as is_second:
                assert not is_second
    assert not again.claims.is_taken(key)
    with again.claims.claim(key) as is_ours:
        assert is_ours


def test_a_claim_ends_with_an_error_too(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.claims.claim("a" * 64):
        1 / 0  # noqa: B018
    assert not store.claims.is_taken("a" * 64)


def test_of_many_threads_one_has_the_claim_and_every_record_arrives(store: Store) -> None:
    barrier, holders = threading.Barrier(8, timeout=30), list[int]()

    def work(number: int) -> None:
        barrier.wait()
        with store.claims.claim("b" * 64) as is_ours:
            if is_ours:
                holders.append(number)
            barrier.wait()
            store.add(some_record(number), start=store.start(some_run(number).key))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(holders) == 1
    assert len(store) == len(store.starts()) == 8


HOLDER = """
import os, signal, sys
from runs.pretend import some_record
from heterophily.runs.stores.url import open_store
store = open_store(sys.argv[1])
with store.claims.claim("c" * 64) as is_ours:
    store.add(some_record(4))
    print(is_ours, flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_its_record_and_loses_its_claim(store: Store) -> None:
    if store.reach == "process":
        pytest.skip("no other process reaches this store")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, store.url],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert store.claims.is_taken("c" * 64)
        other.communicate("die\n")
    assert other.returncode == -9
    assert same(store.get(some_run(4).key), next(store.records()))
    assert len(store) == 1
    deadline = time.monotonic() + 30  # a server notices the death of a client a moment later
    while store.claims.is_taken("c" * 64) and time.monotonic() < deadline:
        time.sleep(0.02)
    with store.claims.claim("c" * 64) as is_ours:
        assert is_ours


def test_the_url_names_the_store_and_hides_nothing_in_words(store: Store) -> None:
    with open_store(store.url, must_exist=True) as second:
        assert (second.url, second.name) == (store.url, store.name)
    assert "\n" not in store.name


def test_the_folder_of_artefacts_is_the_same_for_all(store: Store, again: Store) -> None:
    assert store.artefact_folder == again.artefact_folder
    assert store.artefact_folder.is_absolute()


def test_a_damaged_record_is_an_error_and_the_others_are_read(store: Store) -> None:
    store.add_all(map(some_record, range(3)))
    keys = [some_run(number).key for number in range(3)]
    damage(store, keys[1])
    with pytest.raises(StoreError, match=f"record {keys[1][:12]} is damaged.*runs salvage"):
        list(store.records())
    assert {record.key for record in store.records([keys[0], keys[2]])} == {keys[0], keys[2]}


def damage(store: Store, key: str) -> None:
    """Change the content of a record behind the back of its store."""
    from heterophily.runs.stores.memory import MemoryStore
    from heterophily.runs.stores.postgresql import PostgresStore
    from heterophily.runs.stores.sqlite import SqliteStore

    if isinstance(store, MemoryStore):
        row = store._by_key[key]
        store._by_key[key] = row._replace(content=row.content.replace("stopped", "stoppeq"))
        return
    if isinstance(store, PostgresStore):
        store._base.execute(
            "UPDATE heterophily.runs SET content = replace(content, 'stopped', 'stoppeq') "
            "WHERE key = %s",
            (key,),
        )
        return
    statement = "UPDATE runs SET content = replace(content, 'stopped', 'stoppeq')"
    assert isinstance(store, SqliteStore)
    store._base.execute(f"{statement} WHERE key = '{key}'")
