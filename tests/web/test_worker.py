from __future__ import annotations

import subprocess
import sys

import pytest

from heterophily.errors import InputError
from heterophily.web.jobs import KINDS
from heterophily.web.tasks.catalog import TASKS, task_of, warm_up
from heterophily.web.worker import Context, StoppedError, perform, sentence_of


def context(*, is_stopped: bool = False) -> tuple[Context, list[tuple[str, object]]]:
    told: list[tuple[str, object]] = []
    return Context(lambda event, data: told.append((event, data)), lambda: is_stopped), told


def test_a_word_that_is_told_is_also_a_place_to_stop() -> None:
    given, told = context(is_stopped=True)
    with pytest.raises(StoppedError):
        given.emit("step", value=float("inf"))
    assert told == [("step", {"value": None})]


def test_every_end_of_a_task_is_a_state() -> None:
    given, _ = context()

    def refuse(*_: object) -> dict[str, object]:
        raise InputError("two\n  lines")

    def starve(*_: object) -> dict[str, object]:
        raise MemoryError

    def stop(*_: object) -> dict[str, object]:
        raise StoppedError

    assert perform(lambda *_: {"a": (1,)}, {}, given) == ("done", {"a": [1]})
    assert perform(stop, {}, given) == ("stopped", {})
    assert perform(refuse, {}, given) == ("failed", {"error": "two lines"})
    assert "not enough memory" in perform(starve, {}, given)[1]["error"]


def test_an_error_of_the_system_names_the_file_and_the_cause() -> None:
    assert sentence_of(OSError(28, "No space left on device", "x.npz")) == (
        "x.npz: No space left on device"
    )


def test_reading_a_file_loads_no_statistics_and_no_server() -> None:
    """A worker that starts while somebody waits must be quick."""
    code = (
        "import sys\nfrom heterophily.web.tasks.catalog import task_of\n"
        "task_of('import'), task_of('preview')\n"
        "print([name for name in ('scipy.stats', 'sklearn', 'fastapi', 'torch') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_kind_of_job_has_a_task() -> None:
    assert TASKS.keys() == KINDS.keys()
    assert list(warm_up()) == list(TASKS)
    assert all(callable(task_of(kind)) for kind in KINDS)
