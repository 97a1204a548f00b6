"""``heterophily diagnose`` and ``demo``: order of the output, JSON, the page, refusals."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest
import typer

from heterophily.cli.app import main
from heterophily.cli.demo import DIGITS_COMMAND, demo, digits
from heterophily.cli.diagnose import diagnose
from heterophily.data.graph import same_content
from heterophily.data.npz import read_npz
from heterophily.errors import HeterophilyError, InputError

APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(diagnose)


def run(*arguments: str) -> None:
    APP(args=list(arguments), standalone_mode=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tables(folder: Path) -> list[str]:
    edges = [(i, (i + step) % 20) for i in range(20) for step in (2, 4)]  # even with even
    (folder / "my edges.csv").write_text(
        "source,target\n" + "".join(f"n{i},n{j}\n" for i, j in edges)
    )
    (folder / "n.csv").write_text(
        "id,kind,x\n"
        + "".join(f"n{i},{'even' if i % 2 == 0 else 'odd'},{i % 3}\n" for i in range(20))
    )
    return ["--edges", "my edges.csv", "--nodes", "n.csv", "--label", "kind"]


def test_output_comes_in_the_promised_order(folder: Path, capsys) -> None:
    run("karate")
    text = capsys.readouterr().out
    parts = ["karate: 34 nodes", "Homophilic:", "What each source", "edge homophily",
             "heterophily train", "Report: karate-diagnosis.html"]  # fmt: skip
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert (folder / "karate-diagnosis.html").read_text("utf-8").startswith("<!doctype html>")


def test_json_is_data_and_writes_nothing(folder: Path, capsys) -> None:
    run("karate", "--quick", "--json")
    data = json.loads(capsys.readouterr().out)
    assert list(data) == ["graph", "verdict", "metrics", "probe", "next"]
    assert "trees" not in data["probe"]["scores"]
    assert list(folder.iterdir()) == []


def test_json_with_report_writes_the_page(folder: Path, capsys) -> None:
    run("karate", "--quick", "--json", "--report", "here.html")
    json.loads(capsys.readouterr().out)
    assert [path.name for path in folder.iterdir()] == ["here.html"]


def test_no_report_writes_nothing(folder: Path, capsys) -> None:
    run("karate", "--quick", "--no-report")
    assert "Report:" not in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_tables_are_diagnosed_and_the_next_command_opens_them_again(tables, capsys) -> None:
    run(*tables, "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["metrics"]["edge_homophily"] == 1.0
    assert data["verdict"]["kind"] == "homophilic"
    words = shlex.split(data["next"]["command"])
    assert words[:3] == ["heterophily", "train", "gcn"]
    assert words[3:9] == tables


def test_a_long_next_command_can_be_copied_from_the_output(folder: Path, capsys) -> None:
    """U5: it was cut at 100 columns when the output is a file."""
    long = "n" * 90
    (folder / f"{long}.csv").write_text(
        "id,kind\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(20))
    )
    (folder / "e.csv").write_text(
        "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(19))
    )
    run("--edges", "e.csv", "--nodes", f"{long}.csv", "--label", "kind", "--quick", "--no-report")
    (command,) = [
        line for line in capsys.readouterr().out.splitlines() if "heterophily train" in line
    ]
    assert command.endswith("--splits random --repeats 10")
    assert f"{long}.csv" in command


def test_a_page_that_cannot_be_written_is_one_sentence() -> None:
    with pytest.raises(InputError, match="there is no folder"):
        run("karate", "--quick", "--report", "missing/page.html")


def test_contradicting_options_are_refused() -> None:
    with pytest.raises(InputError, match="contradict"):
        run("karate", "--report", "a.html", "--no-report")


def test_unknown_graph_and_missing_labels_are_one_sentence(tables) -> None:
    with pytest.raises(HeterophilyError, match="did you mean 'karate'"):
        run("karat")
    with pytest.raises(InputError, match="no labelled node"):
        run("--edges", "my edges.csv")


def test_output_that_knows_only_ascii_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    run("karate", "--quick", "--no-report")
    sys.stdout.flush()
    assert b"S_agg(?X)" in raw.getvalue()


def test_demo_shows_three_graphs_and_three_verdicts_and_commands_that_work(
    capsys, monkeypatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    demo()
    text = capsys.readouterr().out
    for words in ("Heterophilic but harmless:", "Homophilic:", "Harmful heterophily"):
        assert text.count(words) == 1
    first, second = text.split(f"  {DIGITS_COMMAND} && ")
    assert "heterophily train acm-gcn digits.npz --splits random --repeats 10\n" in second
    assert "digits.npz" not in first
    assert main(shlex.split(DIGITS_COMMAND)[1:]) == 0
    assert same_content(read_npz("digits.npz"), digits())
