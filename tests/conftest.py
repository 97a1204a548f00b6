"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one worker per core: more threads only wait

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if (_BESIDE / "texas.npz").is_file():
    os.environ.setdefault("HETEROPHILY_DATA", str(_BESIDE))  # as `make test` does


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real datasets: HETEROPHILY_DATA, or ``shared/data`` beside the project."""
    folder = Path(os.environ.get("HETEROPHILY_DATA", _BESIDE))
    if not (folder / "texas.npz").is_file():
        pytest.skip(f"the real datasets are not in {folder}; set HETEROPHILY_DATA to their folder")
    return folder


@pytest.fixture
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for what a script prints, apart from the folder that it works in."""
    return tmp_path_factory.mktemp("logs")


_SLOW = set((Path(__file__).parent / "slow.txt").read_text("utf-8").split())


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that tests/slow.txt names; ``make test-fast`` leaves them out.

    Tests that share a fixture of their file run in one worker process: it is made once.
    """
    for item in items:
        file = item.nodeid.partition("::")[0]
        if {item.nodeid.partition("[")[0], file} & _SLOW:
            item.add_marker("slow")
        made = getattr(item, "_fixtureinfo", None)
        fixtures = made.name2fixturedefs.values() if made else ()
        if any(each[-1].scope == "module" for each in fixtures):
            item.add_marker(pytest.mark.xdist_group(file))
