"""A record is trained again from what it says alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cli.test_runs import runner
from runs.pretend import some_record

from heterophily.cli.runs import app
from heterophily.paper.presets import Recipe
from heterophily.runs.complete import complete
from heterophily.runs.executors.local import local
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.repeat import Repeater, drawn_records
from heterophily.runs.stores.url import open_store
from heterophily.training.config import TrainConfig

CONFIG = TrainConfig(max_epochs=4)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs of two models and two ways to read a graph."""
    path = tmp_path_factory.mktemp("repeat") / "runs.sqlite"
    planner = Planner(repeats=2, seed=5)
    runs = [
        *planner.runs("gcn", "karate", Recipe(config=CONFIG), "random"),
        *planner.runs(
            "acm-gcn",
            "karate",
            Recipe({"direction": "keep"}, {"channels": ("low", "high"), "hidden": 8}, CONFIG),
            "paper-random",
        ),
    ]
    with open_store(path) as store:
        complete(runs, store=store, executor=local(workers=1)).check()
    return path


@pytest.fixture
def records(file: Path) -> list[Record]:
    with open_store(file, is_read_only=True) as store:
        return list(store.records())


def test_every_run_gives_its_record_again(records: list[Record]) -> None:
    found = list(map(Repeater(), records))
    assert [again.problem for again in found] == [""] * 4
    assert all(again.is_equal for again in found)


def test_a_number_that_is_not_the_same_is_seen(records: list[Record]) -> None:
    loss = records[0].outcome.validation_loss
    assert loss is not None
    wrong = replace(records[0], outcome=replace(records[0].outcome, validation_loss=loss * 1.0001))
    again = Repeater()(wrong)
    assert (again.is_equal, again.problem) == (False, "")


def test_what_cannot_be_trained_here_says_why(records: list[Record]) -> None:
    assert "unknown dataset" in Repeater()(some_record(0)).problem
    run = records[0].run
    graph = {**run["graph"], "content_hash": "0" * 64}
    other = replace(records[0], run={**run, "graph": graph})
    assert Repeater()(other).problem == (
        "karate: the graph of the record is another one than that here"
    )
    split = {**run["split"], "digest": "0" * 32}
    moved = replace(records[0], run={**run, "split": split})
    assert "is another one than in the record" in Repeater()(moved).problem
    resolved = replace(records[0], key="0" * 64)
    assert "describes the model or its settings in another way" in Repeater()(resolved).problem


def test_which_runs_are_drawn_follows_from_the_seed(records: list[Record]) -> None:
    keys = [record.key for record in drawn_records(records, 3, seed=1)]
    assert len(set(keys)) == 3
    assert [r.key for r in drawn_records(reversed(records), 3, seed=1)] == keys
    old = [replace(record, key="0" * 64) for record in records]
    assert drawn_records(old, 3, seed=1) == []


def test_the_command_says_how_many_are_equal(file: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["repeat", "--count", "3", "--store", str(file)])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == (
        "3 of 3 runs give the same losses and accuracies, to the last bit"
    )
    other = tmp_path / "pretend.sqlite"
    with open_store(other) as store:
        store.add(some_record(0))
    result = runner.invoke(app, ["repeat", "--store", str(other)])
    assert result.exit_code == 1
    assert "not trained: unknown dataset" in result.stdout
