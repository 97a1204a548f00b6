"""``heterophily compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from small_study import small_graph
from typer.testing import CliRunner

from heterophily.cli.compare import compare
from heterophily.data.npz import write_npz

app = typer.Typer()
app.command()(compare)
runner = CliRunner()
TUNED = ["--tune", "--space", "space.toml", "--repeats", "3", "--workers", "1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_npz(small_graph(), tmp_path / "small.npz")
    (tmp_path / "space.toml").write_text("lr = [0.1]\nmax_epochs = [8]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETEROPHILY_STORE", raising=False)
    return tmp_path


def test_the_table_the_tests_and_the_verdict_are_printed(folder: Path) -> None:
    arguments = ["small.npz", "--models", "mlp-1,sgc-1", *TUNED, "--out", "report.json"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    words = "tuned on validation data, test accuracy in percent"
    assert lines[0] == f"small, 3 random splits of 12 test nodes, {words}"
    assert any(line.startswith("better") for line in lines)
    assert sum(line.startswith("(baseline) ") for line in lines) == 2
    assert sum("points, 95 % interval" in line for line in lines) == 2
    assert lines[-1].startswith("Best: ")
    data = json.loads((folder / "report.json").read_text())
    assert {model["row"] for model in data["models"]} == {"mlp-1", "sgc-1"}
    again = runner.invoke(app, [*arguments[:-2], "--json"])
    assert json.loads(again.stdout) == data  # everything came from the store


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["small.npz", "--minutes", "1"], "add --tune"),
        (["small.npz", "--out", "report.html"], "the file ends in .json"),
        (["small.npz", "--models", "gcn"], "at least two models"),
        (["none.npz"], "no such file"),
        ([], "name one graph"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, arguments: list[str], message: str) -> None:
    result = runner.invoke(app, arguments)
    assert message in str(result.exception)
