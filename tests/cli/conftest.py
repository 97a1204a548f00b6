"""Commands under test keep their runs in memory, unless a test names a store."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def runs_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETEROPHILY_STORE", "memory:")
