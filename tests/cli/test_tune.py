"""``heterophily tune``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from small_study import small_graph
from typer.testing import CliRunner

from heterophily.cli.tune import tune
from heterophily.data.npz import write_npz
from heterophily.search.settings import read_settings

app = typer.Typer()
app.command()(tune)
runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_npz(small_graph(), tmp_path / "small.npz")
    (tmp_path / "space.toml").write_text("lr = [0.001, 0.1]\nmax_epochs = [8]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETEROPHILY_STORE", raising=False)
    return tmp_path


COMMAND = ["mlp-1", "small.npz", "--space", "space.toml", "--repeats", "2", "--workers", "1"]


def test_the_best_settings_are_printed_and_written(folder: Path) -> None:
    result = runner.invoke(app, COMMAND)
    assert result.exit_code == 0, result.output
    assert "best of 2 settings (grid) by mean validation accuracy over 2 random splits" in (
        result.stdout
    )
    assert "not used for the choice" in result.stdout
    written = read_settings(folder / "mlp-1-small.toml")
    assert written["config"]["lr"] in (0.001, 0.1)
    assert (folder / "heterophily-runs.sqlite").exists()


def test_json_holds_every_trial_and_the_file(folder: Path) -> None:
    result = runner.invoke(app, [*COMMAND, "--json", "--out", "best.toml", "--search", "adaptive"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert len(data["trials"]) == 2
    assert data["written"] == "best.toml"
    assert read_settings(folder / "best.toml")["config"]["lr"] == data["settings"]["lr"]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--search", "gird"], "did you mean 'grid'"),
        (["--space", "papr"], "unknown space"),
        (["--splits", "odd"], "unknown split rule"),
        (["--engine", "odd"], "unknown engine"),
    ],
)
def test_bad_options_are_one_sentence(folder: Path, extra: list[str], message: str) -> None:
    result = runner.invoke(app, [*COMMAND, *extra])
    assert message in str(result.exception)
