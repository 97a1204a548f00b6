"""What is special about a server: lost connections, keepalives, versions, passwords."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from postgres_server import Server
from runs.pretend import some_record, some_run

from heterophily.errors import MissingExtraError
from heterophily.runs.stores.base import StoreError
from heterophily.runs.stores.postgresql import SCHEMA, PostgresStore
from heterophily.runs.stores.url import open_store


def test_a_vanished_holder_is_noticed_within_seconds(postgres: Server) -> None:
    """The server asks a silent connection after 5 s and gives it up after 10 s."""
    with PostgresStore(postgres.database()) as store:
        expected = {
            "tcp_keepalives_idle": "5",
            "tcp_keepalives_interval": "2",
            "tcp_keepalives_count": "3",
            "tcp_user_timeout": "10000",
            "synchronous_commit": "on",
        }
        assert {name: store._one(f"SHOW {name}") for name in expected} == expected


def test_settings_of_the_user_win(postgres: Server) -> None:
    url = f"{postgres.database()}?options=-c%20tcp_keepalives_idle%3D30&application_name=mine"
    with PostgresStore(url) as store:
        assert store._one("SHOW tcp_keepalives_idle") == "30"
        assert store._one("SHOW application_name") == "mine"
        assert store._one("SHOW tcp_keepalives_interval") == "2"


def test_a_broken_connection_is_made_anew_with_its_claims(postgres: Server) -> None:
    url, key = postgres.database(), some_run(0).key
    with PostgresStore(url) as store, PostgresStore(url) as other:
        with store.claims.claim(key) as is_ours:
            assert is_ours
            other._one("SELECT pg_terminate_backend(%s)", (store._base.info.backend_pid,))
            assert store.add(some_record(0), start=store.start(key))
            assert other.claims.is_taken(key)
        assert not other.claims.is_taken(key)
        assert len(other) == 1


def test_a_server_that_restarts_is_waited_for(postgres: Server) -> None:
    with PostgresStore(postgres.database()) as store:
        store.add(some_record(0))
        postgres.control("stop", "-m", "fast")
        begin = threading.Timer(1.0, postgres.control, ["start"])
        begin.start()
        try:
            assert store.add(some_record(1))
            assert len(store) == 2
        finally:
            begin.join()


def test_a_server_that_is_away_is_one_sentence(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heterophily.runs.stores.postgresql.AWAY_SECONDS", 0.0)
    with pytest.raises(
        StoreError, match=r"cannot reach the store postgresql://me:\*\*\*@127"
    ) as told:
        open_store("postgresql://me:secret@127.0.0.1:1/runs")
    assert "\n" not in str(told.value)
    assert "secret" not in str(told.value)
    with pytest.raises(StoreError, match="cannot reach the store"):
        open_store(postgres.database() + "-none")


def test_a_server_without_a_store_is_told_to_readers(postgres: Server) -> None:
    url = postgres.database()
    for how in ({"must_exist": True}, {"is_read_only": True}):
        with pytest.raises(StoreError, match="there is no store in this database"):
            open_store(url, **how)
    with open_store(url) as store:
        store.add(some_record(0))
    with open_store(url, is_read_only=True) as reader:
        assert len(reader) == 1
        with pytest.raises(StoreError, match="reading alone"):
            reader.add(some_record(1))


def test_a_store_of_a_newer_program_is_refused(postgres: Server) -> None:
    url = postgres.database()
    with PostgresStore(url) as store:
        store._one(f"UPDATE heterophily.about SET schema = {SCHEMA + 1} RETURNING schema")
    with pytest.raises(StoreError, match=f"has schema version {SCHEMA + 1}.*a newer heterophily"):
        open_store(url)


def test_a_user_without_rights_is_one_sentence(postgres: Server) -> None:
    url = postgres.database()
    open_store(url).close()
    postgres.do("CREATE ROLE reader LOGIN")
    with pytest.raises(StoreError, match="this user may not do that"):
        open_store(url.replace("postgres@", "reader@"))


def test_many_openers_make_one_store(postgres: Server) -> None:
    url, stores = postgres.database(), list[PostgresStore]()
    threads = [threading.Thread(target=lambda: stores.append(PostgresStore(url))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stores) == 6
    for store in stores:
        store.close()


def test_a_frozen_holder_keeps_its_claim_and_a_killed_one_loses_it(postgres: Server) -> None:
    """No leases: a process that is only slow keeps its run."""
    url, key = postgres.database(), some_run(0).key
    with PostgresStore(url) as store:
        child = os.fork()
        if child == 0:
            with PostgresStore(url).claims.claim(key):
                time.sleep(60)
            os._exit(0)
        _until(lambda: store.claims.is_taken(key))
        os.kill(child, signal.SIGSTOP)
        time.sleep(0.3)
        assert store.claims.is_taken(key)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _until(lambda: not store.claims.is_taken(key))


def _until(is_true, seconds: float = 120.0) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_folder_of_artefacts_can_be_shared(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PostgresStore(postgres.database()) as store:
        monkeypatch.setenv("HETEROPHILY_ARTEFACTS", str(tmp_path))
        assert store.artefact_folder == tmp_path


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterophily\[cluster\]'"):
        open_store("postgresql://127.0.0.1/runs")
