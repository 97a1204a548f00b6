"""What a study costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiments.pretend import some_record

from heterophily.experiments import cost
from heterophily.experiments.cost import Clock, study_cost
from heterophily.experiments.store import Store
from heterophily.experiments.study import study


def test_runs_are_counted_per_cell_setting_and_split() -> None:
    clock = Clock()
    clock.reference_epoch = lambda dataset: 0.001  # type: ignore[method-assign]
    part = study("sota").part(models=["acm-gcn"], datasets=["texas", "deezer-europe"])
    assert study_cost(part, clock).runs == 10 + 5  # deezer-europe has five splits
    assert study_cost(part, clock, repeats=3).runs == 6
    searched = study("sota").part(models=["acm-gcn"], datasets=["texas"])
    assert study_cost(searched, clock, protocol="validated").runs == 270 * 10


def test_time_is_the_measured_epoch_scaled_by_the_papers_times() -> None:
    clock = Clock()
    clock.reference_epoch = lambda dataset: 0.002  # type: ignore[method-assign]
    # Table of optima, cornell: acm-gcn 8.25 ms and 1.69 s, acm-sgc-1 5.53 ms and 2.31 s.
    plain = clock.seconds_per_run("acm-gcn", "cornell", "random")
    assert plain == pytest.approx(0.002 * 1690 / 8.25)
    other = clock.seconds_per_run("acm-sgc-1", "cornell", "random")
    assert other == pytest.approx(0.002 * (5.53 / 8.25) * (2310 / 5.53))


def test_finished_runs_are_the_best_witness(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        store.add_all(some_record(number) for number in range(3))
        clock = Clock(store)
    seconds = [some_record(number).outcome.seconds for number in range(3)]
    assert clock.seconds_per_run("acm-gcn", "ring", "random") == pytest.approx(sum(seconds) / 3)


def test_an_epoch_is_measured_once_and_kept(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, notices = tmp_path / "cache" / "seconds.json", []
    clock = Clock(memory=memory, data_folder=data_folder, notice=notices.append)
    first = clock.reference_epoch("texas")
    assert first is not None
    assert first > 0
    assert notices == ["measuring 6 epochs of acm-gcn on texas"]
    assert list(json.loads(memory.read_text()).values()) == [first]
    monkeypatch.setattr(cost, "train_by_name", None)  # would fail if it were called
    assert Clock(memory=memory).reference_epoch("texas") == first


def test_a_dataset_that_is_not_here_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "find", lambda *_: ("to download", None))
    part = study("sota").part(models=["acm-gcn"], datasets=["texas"])
    assert study_cost(part, Clock()) == cost.Cost(10, None)


def test_a_damaged_memory_is_measured_anew(tmp_path: Path) -> None:
    path = tmp_path / "seconds.json"
    path.write_text("{")
    assert Clock(memory=path)._measured == {}
