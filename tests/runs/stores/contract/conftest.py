"""Every kind of store, each new and empty: the fixture ``kind`` runs a test once for each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store

Open = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_store(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Make a new, empty store at each call; all are closed at the end."""
    numbers, opened = itertools.count(), list[Store]()
    urls: dict[str, Callable[[], str]] = {
        "memory": lambda: "memory:",
        "sqlite": lambda: f"sqlite:///{tmp_path}/{next(numbers)}.sqlite",
        "postgresql": lambda: request.getfixturevalue("postgres").database(),
    }

    def new() -> Store:
        opened.append(open_store(urls[kind]()))
        return opened[-1]

    yield new
    for store in opened:
        store.close()


@pytest.fixture
def store(new_store: Open) -> Store:
    return new_store()


@pytest.fixture
def again(store: Store) -> Iterator[Store]:
    """The same store, opened a second time by its URL."""
    with open_store(store.url) as second:
        yield second
