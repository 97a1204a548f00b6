"""Stores by URL."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs.pretend import some_record

from heterophily.errors import UnknownNameError
from heterophily.runs.stores.base import StoreError
from heterophily.runs.stores.url import (
    absolute_url,
    default_url,
    file_of,
    open_or_empty,
    open_store,
    without_password,
)


def test_a_path_and_its_url_are_one_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store, open_store(f"sqlite:///{path}") as same:
        store.add(some_record(0))
        assert len(same) == 1
        assert store.url == same.url == f"sqlite:///{path}"


def test_the_url_of_a_relative_path_holds_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("sqlite:///runs.sqlite") as store:
        assert store.url == f"sqlite:///{tmp_path}/runs.sqlite"
    assert file_of("runs.sqlite") == tmp_path / "runs.sqlite"
    assert absolute_url("runs.sqlite") == str(tmp_path / "runs.sqlite")
    assert file_of("memory:") is None


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HETEROPHILY_STORE", raising=False)
    assert default_url() == "heterophily-runs.sqlite"
    monkeypatch.setenv("HETEROPHILY_STORE", "memory:")
    assert default_url() == "memory:"
    with open_store() as store:
        assert store.reach == "process"


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown kind of store 'mysql'"):
        open_store("mysql://host/base")


def test_a_store_in_memory_belongs_to_one_process_and_ends_when_it_is_closed() -> None:
    with open_store("memory:") as store, open_store(store.url) as same:
        assert same is store
        assert store.artefact_folder.is_dir()
    assert not store.artefact_folder.is_dir()
    with pytest.raises(StoreError, match="in the memory of another process or was closed"):
        open_store(store.url)


def test_a_command_that_only_looks_makes_no_file(tmp_path: Path) -> None:
    with open_or_empty(tmp_path / "runs.sqlite") as store:
        assert len(store) == 0
    assert not list(tmp_path.iterdir())
    with open_store(tmp_path / "runs.sqlite") as store:
        store.add(some_record(0))
    with open_or_empty(tmp_path / "runs.sqlite") as store:
        assert len(store) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:se:cret@db:5432/runs", "postgresql://me:***@db:5432/runs"),
        ("postgresql://me@db/runs?password=secret&x=1", "postgresql://me@db/runs?password=***&x=1"),
        ("postgresql://me@db:5432/runs", "postgresql://me@db:5432/runs"),
        ("sqlite:///runs.sqlite", "sqlite:///runs.sqlite"),
    ],
)
def test_passwords_are_not_shown(text: str, shown: str) -> None:
    assert without_password(text) == shown
