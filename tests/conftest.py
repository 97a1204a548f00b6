"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

from heterophily.errors import MissingExtraError

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one worker per core: more threads only wait
os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # compile modules once, not in each process again
sys.dont_write_bytecode = False

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that tests/slow.txt names; ``make test-fast`` leaves them out."""
    for item in items:
        if {item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]} & _SLOW:
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """In ``make bare``, without any extra: a test that needs one is skipped.

    What the package itself imports without saying so still fails.
    """
    try:
        return (yield)
    except ImportError as error:
        if os.environ.get("HETEROPHILY_EXTRAS") != "none":
            raise
        *_, last = traceback.walk_tb(error.__traceback__)
        if (
            not isinstance(error, MissingExtraError)
            and "tests" not in Path(last[0].f_code.co_filename).parts
        ):
            raise
        pytest.skip(str(error))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests among processes as tests/schedule.py says."""
    from schedule import SlowestFirst

    return SlowestFirst(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in tests: they are in ``src``."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]
