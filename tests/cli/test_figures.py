"""``heterophily paper figure NAME`` for the figures of the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli.figures import add_to
from heterophily.errors import HeterophilyError
from heterophily.report.figures.catalog import FIGURES

app = typer.Typer()
add_to(app)
TINY = ["--graph", "karate", "--max-epochs", "5", "--workers", "1", "--engine", "torch"]
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(*arguments: str) -> str:
        where = [] if arguments[0] == "list" else ["--out", str(tmp_path)]
        result = CliRunner().invoke(app, [*arguments, *where])
        if isinstance(result.exception, HeterophilyError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_list_names_every_figure_and_its_place(run: Run) -> None:
    text = run("list")
    assert [line.split()[0] for line in text.splitlines()] == list(FIGURES)
    assert "(Figure 5)" in text
    assert json.loads(run("list", "--json"))["sota-bars"]["place"] == "Figure 6"


def test_a_figure_prints_its_alternative_text_and_its_files(run: Run, tmp_path: Path) -> None:
    text = run("compatibility", "--graph", "karate", "--graph", "davis")
    assert text.startswith("Heat maps of class compatibility. karate: ")
    assert (tmp_path / "compatibility-karate-davis.svg").is_file()


def test_trained_figures_take_models_and_repeats(run: Run) -> None:
    options = [*TINY, "--models", "gcn,acm-gcn", "--repeats", "2", "--json"]
    data = json.loads(run("accuracy-by-homophily", *options))
    assert [line["model"] for line in data["data"]["panels"][0]["models"]] == ["gcn", "acm-gcn"]
    assert len(data["data"]["runs"]) == 4
    assert data["request"]["preset"] == "paper"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ternary", *TINY, "--no-train"], "--no-train forbids training"),
        (["ternary", *TINY, "--models", " , "], "--models is empty"),
        (["ternary", *TINY, "--preset", "papr"], "did you mean 'paper'"),
        (["ternary", "--graph", "nosuch"], "nosuch"),
        (["sota-bars", "--results", "nosuch"], "no such file or folder of results"),
        (["compatibility", "--graph", "karate", "--splits", "x", "--nodes", "5"], None),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], message: str | None) -> None:
    if message is None:  # options that a figure has no use for are ignored
        run(*arguments)
        return
    with pytest.raises(HeterophilyError, match=message) as error:
        run(*arguments)
    assert "\n" not in str(error.value)


def test_help_names_what_is_drawn_and_where_the_paper_has_it() -> None:
    text = CliRunner().invoke(app, ["t-sne", "--help"], env={"COLUMNS": "300"}).stdout
    assert "Figure 5" in text
    assert "trained once and kept" in text
