"""``heterophily runs``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runs.pretend import some_record, some_run
from typer.testing import CliRunner

from heterophily.cli.runs import app
from heterophily.runs.stores.url import open_store

runner = CliRunner()


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as opened:
        opened.add_all(map(some_record, range(3)))
    return str(path)


def output(*arguments: str) -> str:
    result = runner.invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_shows_one_line_per_run(store: str) -> None:
    lines = output("list", "--store", store).splitlines()
    assert lines[0].split()[:4] == ["key", "model", "graph", "splits"]
    assert {line.split()[0] for line in lines[1:]} == {some_run(n).key[:12] for n in range(3)}


def test_list_is_limited_and_filtered(store: str) -> None:
    assert output("list", "--store", store, "--limit", "1").splitlines()[-1] == (
        "... and 2 more (--limit)"
    )
    assert output("list", "--store", store, "--model", "gcn") == "no runs\n"
    assert len(json.loads(output("list", "--store", store, "--graph", "ring", "--json"))) == 3


def test_show_takes_the_start_of_a_key(store: str) -> None:
    shown = json.loads(output("show", some_run(1).key[:10], "--store", store))
    assert shown["key"] == some_run(1).key
    assert shown["outcome"]["test_accuracy"] == some_record(1).outcome.test_accuracy
    assert shown["command"] == "test"


@pytest.mark.parametrize(
    ("key", "message"), [("zzz", "no run has this key"), ("", "3 runs start so")]
)
def test_an_unknown_or_ambiguous_key_is_one_sentence(store: str, key: str, message: str) -> None:
    result = runner.invoke(app, ["show", key, "--store", store])
    assert message in str(result.exception)


def test_export_and_merge(store: str, tmp_path: Path) -> None:
    told = output("export", str(tmp_path / "runs.csv"), "--store", store)
    assert told.startswith("wrote 3 runs to ")
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 4
    other = str(tmp_path / "other.sqlite")
    assert output("merge", store, "--store", other).endswith("3 new, 0 known\n")
    assert output("merge", store, "--store", other).endswith("0 new, 3 known\n")
    exported = str(tmp_path / "again.parquet")
    output("export", exported, "--store", store)
    assert output("merge", exported, "--store", other).endswith("0 new, 3 known\n")


def test_reading_commands_make_no_store(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    for arguments in (["list"], ["show", "abc"], ["export", str(tmp_path / "x.csv")]):
        result = runner.invoke(app, [*arguments, "--store", str(path)])
        assert "there is no store here" in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_check_salvage_and_backup(store: str, tmp_path: Path) -> None:
    assert output("check", "--store", store) == "3 runs are intact\n"
    assert output("migrate", "--store", store).endswith("up to date\n")
    copy, saved = tmp_path / "copy.sqlite", tmp_path / "saved.sqlite"
    assert output("backup", str(copy), "--store", store) == f"copied 3 runs to {copy}\n"
    assert output("salvage", str(saved), "--store", store) == f"took 3 intact runs to {saved}\n"
    content = bytearray(Path(store).read_bytes())
    place = content.index(b"stopped")
    content[place] ^= 1
    Path(store).write_bytes(content)
    result = runner.invoke(app, ["check", "--store", store])
    assert result.exit_code == 1
    assert "2 runs are intact\n1 are damaged (" in result.stdout
    again = tmp_path / "again.sqlite"
    assert output("salvage", str(again), "--store", store) == f"took 2 intact runs to {again}\n"
    assert "1 new, 2 known" in output("merge", str(copy), "--store", str(again))
