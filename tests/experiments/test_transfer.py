"""Export and merge."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from experiments.pretend import some_record, some_run

from heterophily.errors import InputError, UnknownNameError
from heterophily.experiments.store import Store, StoreError
from heterophily.experiments.transfer import export_records, merge_store

RECORDS = [some_record(number) for number in range(4)]


def test_every_kind_of_file_holds_every_run_exactly(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet", ".json"):
        assert export_records(RECORDS, tmp_path / f"runs{suffix}") == 4
    expected = [record.outcome.test_accuracy for record in RECORDS]
    with (tmp_path / "runs.csv").open(newline="") as stream:
        assert [float(row["test_accuracy"]) for row in csv.DictReader(stream)] == expected
    table = pq.read_table(tmp_path / "runs.parquet", page_checksum_verification=True)
    assert table["test_accuracy"].to_pylist() == expected
    whole = json.loads((tmp_path / "runs.json").read_text())
    assert [item["outcome"]["test_accuracy"] for item in whole] == expected
    assert whole[0]["run"]["split"]["digest"] == RECORDS[0].run["split"]["digest"]


def test_a_bad_target_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown kind of file '.xlsx'"):
        export_records(RECORDS, tmp_path / "runs.xlsx")
    with pytest.raises(InputError, match="there is no folder"):
        export_records(RECORDS, tmp_path / "none" / "runs.csv")
    with pytest.raises(InputError, match="no finished run was chosen"):
        export_records([], tmp_path / "runs.csv")
    assert not list(tmp_path.iterdir())


def test_merging_takes_what_is_new_and_leaves_the_other_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "a.sqlite") as first, Store(tmp_path / "b.sqlite") as second:
        first.add_all(RECORDS[:3])
        second.add_all(RECORDS[2:])
        before = second.answers()
        assert merge_store(first, second) == (1, 1)
        assert len(first) == 4
        assert second.answers() == before


def test_stores_that_disagree_are_not_merged(tmp_path: Path) -> None:
    other = replace(RECORDS[0], outcome=replace(RECORDS[0].outcome, test_accuracy=0.123))
    with Store(tmp_path / "a.sqlite") as first, Store(tmp_path / "b.sqlite") as second:
        first.add(RECORDS[0])
        second.add_all([other, RECORDS[1]])
        with pytest.raises(StoreError, match=f"disagree on run {some_run(0).key[:12]}"):
            merge_store(first, second)
        assert len(first) == 1
