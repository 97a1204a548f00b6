"""The time of a search counts trainings, also those of an earlier process."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs.pretend import some_record

from heterophily.prediction.time_spent import TimeSpent

RECORDS = [some_record(number) for number in range(4)]


def test_new_trainings_move_the_clock_by_the_time_that_passed() -> None:
    now = iter([0.0, 3.0, 10.0])
    spent = TimeSpent(lambda: next(now))
    spent.count(RECORDS[:2], known=())
    assert spent.now() == pytest.approx(3.0)
    spent.count(RECORDS[2:], known=())
    assert spent.now() == pytest.approx(10.0)


def test_known_trainings_move_it_by_what_they_took_then(tmp_path: Path) -> None:
    ticks, memory = iter([0.0, 3.0, 10.0]), tmp_path / "spent.jsonl"
    first = TimeSpent(lambda: next(ticks), memory=memory)
    first.count(RECORDS[:2], known=())
    first.count(RECORDS[2:3], known=())
    with memory.open("a") as file:
        file.write('["torn')
    later = TimeSpent(lambda: 100.0, memory=memory, workers=2)
    keys = {record.key for record in RECORDS}
    later.count(RECORDS[:2], known=keys)
    later.count(RECORDS[2:3], known=keys)
    assert later.now() == first.now() == pytest.approx(10.0)
    later.count(RECORDS[3:], known=keys)  # finished, but killed before its time was written
    assert later.now() == pytest.approx(10.0 + RECORDS[3].outcome.seconds / 2)
