"""What a study costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runs.pretend import some_record, some_run
from small_study import small_graph

from heterophily.runs.record import Record, versions
from heterophily.runs.stores.url import open_store
from heterophily.studies import cost
from heterophily.studies.cost import RunClock, run_seconds, seconds_per_epoch, study_cost
from heterophily.studies.study import study


def clock_of(seconds: float, **options: object) -> RunClock:
    """Return a clock that has measured the same time for everything."""
    clock = RunClock(**options)  # type: ignore[arg-type]

    class Always(dict[str, float]):
        def __contains__(self, key: object) -> bool:
            return True

        def get(self, key: str, default: object = None) -> float:  # type: ignore[override]
            return seconds

    clock._measured = Always()
    return clock


def test_runs_are_counted_per_cell_setting_and_split() -> None:
    clock = clock_of(0.001)
    part = study("sota").part(models=["acm-gcn"], datasets=["texas", "deezer-europe"])
    assert study_cost(part, clock).runs == 10 + 5  # deezer-europe has five splits
    assert study_cost(part, clock, repeats=3).runs == 6
    searched = study("sota").part(models=["acm-gcn"], datasets=["texas"])
    assert study_cost(searched, clock, protocol="validated").runs == 270 * 10


def test_time_under_torch_is_that_of_the_reference_scaled_by_the_papers() -> None:
    clock = clock_of(0.002)
    # Table of optima, cornell: acm-gcn 8.25 ms and 1.69 s, acm-sgc-1 5.53 ms and 2.31 s.
    plain = clock.seconds_per_run("acm-gcn", "cornell", "random")
    assert plain == pytest.approx(0.002 * 1690 / 8.25)
    other = clock.seconds_per_run("acm-sgc-1", "cornell", "random")
    assert other == pytest.approx(0.002 * (5.53 / 8.25) * (2310 / 5.53))


def test_the_native_engine_is_measured_with_the_model_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "engine_for", lambda spec, asked: ("native", ""))
    clock = clock_of(0.002, engine="native")
    other = clock.seconds_per_run("acm-sgc-1", "cornell", "random")
    assert other == pytest.approx(0.002 * (2310 / 5.53))


def test_each_engine_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(models: list[str], graph: object, engine: str) -> dict[str, float]:
        asked.append((models, engine))
        return dict.fromkeys(models, 1.0)

    monkeypatch.setattr(cost, "seconds_per_epoch", measured)
    monkeypatch.setattr(
        cost, "engine_for", lambda spec, asked: ("torch" if "Gat" in repr(spec) else "native", "")
    )
    clock = RunClock(engine="auto")
    clock.measure(["acm-gcn", "gat", "gcn"], "ring", small_graph)
    clock.measure(["acm-gcn", "gat"], "ring", small_graph)
    assert asked == [(["acm-gcn", "gcn"], "native"), (["acm-gcn"], "torch")]


def test_finished_runs_of_the_same_engine_are_the_best_witness(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        store.add_all(some_record(number) for number in range(3))
        native = some_run(0, engine="native")
        slow = some_record(0).outcome
        store.add(Record.of(native, slow))
        clock = RunClock(store)
    seconds = [some_record(number).outcome.seconds for number in range(3)]
    assert clock.seconds_per_run("acm-gcn", "ring", "random") == pytest.approx(sum(seconds) / 3)


def test_an_epoch_is_measured_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, notices = tmp_path / "cache" / "seconds.json", []
    clock = RunClock(memory=memory, notice=notices.append)
    clock.measure(["acm-gcn", "gcn"], "small", small_graph)
    assert notices == ["measuring 1 model on small for a few epochs"]
    name = f"acm-gcn small torch {versions()['torch']}"
    assert json.loads(memory.read_text())[name] > 0
    monkeypatch.setattr(cost, "seconds_per_epoch", None)  # would fail if it were called
    RunClock(memory=memory).measure(["acm-gcn", "gcn"], "small", small_graph)


def test_models_with_different_inputs_are_measured_side_by_side() -> None:
    found = seconds_per_epoch(["gcn", "acm-gcn++"], small_graph(), "torch")
    assert set(found) == {"gcn", "acm-gcn++"}
    assert min(found.values()) > 0


def test_a_graph_that_is_not_here_or_not_known_has_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "find", lambda *_: ("to download", None))
    part = study("sota").part(models=["acm-gcn"], datasets=["texas"])
    assert study_cost(part, RunClock()) == cost.Cost(10, None)
    assert run_seconds({("gcn", "my-graph", "random"): 3}, RunClock()) is None


def test_a_damaged_memory_is_measured_anew(tmp_path: Path) -> None:
    path = tmp_path / "seconds.json"
    path.write_text("{")
    assert RunClock(memory=path)._measured == {}
