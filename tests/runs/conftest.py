"""A PostgreSQL server for the tests that ask for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import Server, binaries, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One server for all tests of a process; each test makes a database of its own."""
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra cluster)")
    if binaries() is None:
        pytest.skip("there is no PostgreSQL server on this machine (package postgresql)")
    with postgres_server() as server:
        yield server
