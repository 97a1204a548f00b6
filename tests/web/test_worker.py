from __future__ import annotations

import pytest

from heterophily.errors import InputError
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
