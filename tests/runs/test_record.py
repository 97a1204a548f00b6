"""Keys and records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from runs.pretend import some_outcome, some_record, some_run

from heterophily.data.splits import random_splits
from heterophily.runs import record as records
from heterophily.runs.record import Record
from heterophily.runs.run import GraphRef, SplitRef, canonical, split_digest


def test_a_key_is_a_function_of_the_description_alone() -> None:
    assert some_run(3).key == some_run(3).key
    assert len(some_run(3).key) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"resolved": {"network": "StackNetwork", "dropout": 0.6}},
        {"resolved": {"network": "OtherNetwork", "dropout": 0.5}},
        {"config": {"lr": 0.02, "weight_decay": 5e-4}},
        {"graph": GraphRef("ring", "e" * 64)},
        {"split": SplitRef("random", 4, 0, f"{3:032x}")},
        {"split": SplitRef("fixed", 3, 0, f"{3:032x}")},
        {"split": SplitRef("random", 3, 0, f"{4:032x}")},
        {"seed": 4},
        {"engine": "native"},
    ],
)
def test_whatever_changes_a_number_changes_the_key(change: dict[str, object]) -> None:
    run = some_run(3)
    assert replace(run, **change).key != run.key  # type: ignore[arg-type]


def test_the_numerics_version_of_its_engine_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, other = some_run(3).key, some_run(3, engine="native").key
    monkeypatch.setitem(records.NUMERICS, "torch", records.NUMERICS["torch"] + 1)
    assert some_run(3).key != before
    assert some_run(3, engine="native").key == other


def test_a_record_says_which_numerics_its_key_belongs_to(monkeypatch: pytest.MonkeyPatch) -> None:
    record = some_record(3)
    assert record.numerics == records.NUMERICS["torch"]
    monkeypatch.setitem(records.NUMERICS, "torch", records.NUMERICS["torch"] + 1)
    assert record.is_consistent
    assert record.numerics == records.NUMERICS["torch"] - 1
    assert some_run(3).earlier_keys[0] == record.key
    assert not replace(record, key="0" * 64).is_consistent


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_a_record_names_its_engine_with_numerics_and_instruction_set(engine: str) -> None:
    run = some_run(1, engine=engine)
    record = Record.of(run, some_outcome(run))
    name, _, where = record.versions["engine"].partition("/")
    assert name == f"{engine}-{records.NUMERICS[engine]}"
    assert where
    assert replace(record, versions={}).is_consistent  # where it ran is not part of the key


def test_names_are_not_part_of_the_key() -> None:
    run = some_run(3)
    assert replace(run, model="gcn", graph=GraphRef("circle", "f" * 64)).key == run.key


def test_whole_numbers_and_floats_of_equal_value_are_one_setting() -> None:
    assert canonical({"hidden": 64, "lr": 1}) == canonical({"lr": 1.0, "hidden": 64.0})
    assert canonical(True) != canonical(1)


def test_split_digest_tells_every_set_apart() -> None:
    labels = np.arange(30) % 3
    batch = random_splits(labels, repeats=2, seed=0)
    first, second = batch[0], batch[1]
    swapped = type(first)(first.train, first.test, first.validation)
    assert len({split_digest(split) for split in (first, second, swapped)}) == 3


def test_an_answer_leaves_cost_and_origin_out() -> None:
    record = some_record(1)
    slower = replace(record.outcome, seconds=99.0, peak_memory_mb=1.0)
    again = replace(record, outcome=slower, command="other", finished_at="later")
    worse = replace(record, outcome=replace(record.outcome, test_accuracy=0.0))
    assert again.answer == record.answer
    assert worse.answer != record.answer


def test_a_row_holds_every_fact_of_the_record() -> None:
    row = some_record(2).to_row()
    assert row["test_accuracy"] == some_outcome(some_run(2)).test_accuracy
    assert (row["model"], row["graph"], row["split_index"]) == ("acm-gcn", "ring", 2)
    assert row["command"] == "test"
    assert "torch" in row["versions"]


SCORES = {"validation": {"roc-auc": 0.7}, "test": {"roc-auc": None}, "confusion": [[2, 1], [0, 3]]}


def test_scores_go_into_a_row_and_come_back_and_older_rows_have_none() -> None:
    plain = some_record(1)
    scored = replace(plain, outcome=replace(plain.outcome, scores=SCORES))
    assert Record.from_row(scored.to_row()).outcome.scores == SCORES
    older = {name: value for name, value in plain.to_row().items() if name != "scores"}
    assert Record.from_row(older).outcome.scores is None
    assert Record.from_row(plain.to_row()).outcome == plain.outcome


def test_scores_follow_from_the_answer_and_are_no_part_of_it() -> None:
    plain = some_record(1)
    scored = replace(plain, outcome=replace(plain.outcome, scores=SCORES))
    assert (scored.key, scored.answer) == (plain.key, plain.answer)
    assert "scores" not in plain.outcome.to_dict()
