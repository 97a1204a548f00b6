"""Export and merge."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from runs.pretend import some_record, some_run

from heterophily.errors import InputError, UnknownNameError
from heterophily.runs.stores.base import StoreError
from heterophily.runs.stores.url import open_store
from heterophily.runs.transfer import (
    export_records,
    merge_records,
    merge_store,
    read_records,
)

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
    with open_store(tmp_path / "a.sqlite") as first, open_store(tmp_path / "b.sqlite") as second:
        first.add_all(RECORDS[:3])
        second.add_all(RECORDS[2:])
        before = second.answers()
        assert merge_store(first, second) == (1, 1, ())
        assert len(first) == 4
        assert second.answers() == before


def test_stores_that_disagree_are_not_merged(tmp_path: Path) -> None:
    other = replace(RECORDS[0], outcome=replace(RECORDS[0].outcome, test_accuracy=0.123))
    with open_store(tmp_path / "a.sqlite") as first, open_store(tmp_path / "b.sqlite") as second:
        first.add(RECORDS[0])
        second.add_all([other, RECORDS[1]])
        with pytest.raises(StoreError, match=f"disagree on run {some_run(0).key[:12]}"):
            merge_store(first, second)
        assert len(first) == 1


def test_stores_of_other_processors_are_merged_with_a_remark(tmp_path: Path) -> None:
    """What is here stays; equal versions with another answer stay an error (above)."""
    changed = replace(RECORDS[0].outcome, test_accuracy=0.123)
    versions = {**RECORDS[0].versions, "instructions": "other"}
    other = replace(RECORDS[0], outcome=changed, versions=versions)
    with open_store(tmp_path / "a.sqlite") as first, open_store("memory:") as second:
        first.add(RECORDS[0])
        second.add_all([other, RECORDS[1]])
        before = first.get(RECORDS[0].key)
        merged = merge_store(first, second)
        assert (merged.added, merged.known) == (1, 0)
        (remark,) = merged.remarks
        assert "1 run: the answer there is another (instructions other instead of" in remark
        assert before is not None
        assert first.get(RECORDS[0].key).answer == before.answer  # type: ignore[union-attr]


def test_a_record_says_the_instruction_set() -> None:
    assert RECORDS[0].versions["instructions"] in ("avx512", "avx2", "baseline")


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
def test_exported_runs_come_back_with_the_same_answers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"runs{suffix}"
    export_records(RECORDS, path)
    back = read_records(path)
    assert [record.answer for record in back] == [record.answer for record in RECORDS]
    assert [record.to_row() for record in back] == [record.to_row() for record in RECORDS]
    with open_store(tmp_path / "a.sqlite") as store:
        assert merge_records(store, back, where=path) == (4, 0, ())
        assert merge_records(store, RECORDS, where=path) == (0, 4, ())


def test_a_changed_run_does_not_fit_its_key(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    other = {**RECORDS[1].run, "seed": 99}
    export_records([RECORDS[0], replace(RECORDS[1], run=other)], path)
    with pytest.raises(InputError, match=f"run {some_run(1).key[:12]} does not fit its key"):
        read_records(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("runs.parquet", b"no parquet", "runs.parquet holds no runs"),
        ("runs.json", b"[{}]", r"runs.json holds no runs that this program can read \(KeyError\)"),
        ("runs.json", b"{", "runs.json holds no runs"),
        ("runs.csv", b"key\n", "unknown kind of file with runs '.csv'"),
    ],
)
def test_a_file_without_runs_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, UnknownNameError), match=message):
        read_records(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_records(tmp_path / "none.json")


def _changed(path: Path, place: tuple[str, ...], value: object) -> None:
    """Write an exported JSON file again with one value changed (or removed)."""
    content = json.loads(path.read_text("utf-8"))
    inner = content[1]
    for name in place[:-1]:
        inner = inner[name]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("outcome", "test_accuracy"), 1.0),
        (("outcome", "test_accuracy"), float("nan")),
        (("outcome", "test_accuracy"), 7),
        (("outcome", "epochs"), "many"),
        (("outcome", "best_epoch"), True),
        (("run", "model"), "mine"),
        (("run", "model"), None),
        (("run", "options"), None),
        (("run", "seed"), 1.5),
        (("run", "graph"), []),
        (("run", "engine"), "\ud800"),
        (("key",), None),
        (("key",), 5),
        (("command",), "\ud800"),
        (("command",), "another"),
        (("versions",), None),
        (("finished_at",), "2001-01-01"),
        (("checksum",), ...),
        (("checksum",), None),
    ],
)
def test_a_changed_record_is_refused_whatever_was_changed(
    tmp_path: Path, place: tuple[str, ...], value: object
) -> None:
    path = tmp_path / "runs.json"
    export_records(RECORDS, path)
    _changed(path, place, value)
    with pytest.raises(InputError, match=r"runs\.json"):
        read_records(path)


def test_a_changed_row_of_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    export_records(RECORDS, path)
    rows = pq.read_table(path).to_pylist()
    rows[2]["test_accuracy"] = 1.0
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(InputError, match="does not fit its checksum"):
        read_records(path)


@pytest.mark.parametrize("text", ["[" * 100_000, "5", '{"a": 1}', "[1]", "[" + "9" * 5000 + "]"])
def test_other_json_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runs.json"
    path.write_text(text)
    with pytest.raises(InputError, match="holds no runs that this program can read"):
        read_records(path)
