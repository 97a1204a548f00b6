"""One grammar: every command takes the same options of a graph, and a recipe says them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from heterophily.cli.app import app, main
from heterophily.cli.sources import graph_source, name_or_graph
from heterophily.data.graph import Graph
from heterophily.data.options import OPTIONS
from heterophily.data.source import GraphSource

COMMANDS = ["diagnose", "report", "train", "predict", "explain", "compare", "tune", "convert"]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two groups of ten nodes, with columns of unusual names and a text that needs an option."""
    monkeypatch.chdir(tmp_path)
    ring = [(i, (i + step) % 20) for i in range(20) for step in (2, 4)]
    (tmp_path / "e.csv").write_text("payer;payee\n" + "".join(f"n{a};n{b}\n" for a, b in ring))
    rows = "".join(f"n{i};{'ab'[i % 2]};{i * 7 % 5};{i % 3}\n" for i in range(20))
    (tmp_path / "n.csv").write_text("key;team;age;zip\n" + rows)
    return [
        *("--edges", "e.csv", "--nodes", "n.csv", "--label", "team", "--id", "key"),
        *("--source", "payer", "--target", "payee", "--delimiter", ";"),
        *("--column", "zip=category", "--ignore", "age", "--directed"),
    ]


def commands() -> dict[str, Any]:
    return typer.main.get_command(app).commands  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_every_word_of_a_graph_source(name: str) -> None:
    words = {
        word
        for parameter in commands()[name].params
        for word in (*parameter.opts, *parameter.secondary_opts)
    }
    for option in OPTIONS.values():
        flags = [option.flag] if isinstance(option.flag, str) else option.flag.values()
        assert {flag for flag in flags if flag} <= words


@pytest.mark.parametrize("name", COMMANDS)
def test_at_most_twelve_options_stand_before_the_panels_of_more(name: str) -> None:
    panels = [
        parameter.rich_help_panel
        for parameter in commands()[name].params
        if parameter.param_type_name == "option" and parameter.name != "help"
    ]
    assert None not in panels
    first = [panel for panel in panels if not panel.startswith("More: ")]
    assert len(first) <= 12
    assert panels[: len(first)] == first


def test_a_recipe_is_the_same_graph_for_every_command(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*arguments: str) -> Any:
        assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    wanted = told("convert", *tables, "--recipe", "graph.toml")
    assert wanted["written"] == ["graph.toml"]
    assert [column["name"] for column in wanted["columns"]] == ["zip"]
    assert wanted["is_directed"]
    assert told("convert", "graph.toml")["content_hash"] == wanted["content_hash"]
    assert told("diagnose", "graph.toml", "--quick")["graph"]["columns"] == wanted["columns"]
    quick = ["--workers", "1", "--repeats", "2"]
    short = [*quick, "--max-epochs", "3", "--out", "model"]
    assert told("train", "acm-gcn", "graph.toml", *short)["columns"] == wanted["columns"]
    assert len(told("predict", "model", "graph.toml")["rows"]) == 20
    assert told("explain", "model", "graph.toml", "--node", "n3")["node"] == "n3"
    compared = told("compare", "graph.toml", "--models", "mlp-2,gcn", *quick)
    assert compared["graph"] == "e"
    report = ["report", "graph.toml", "--quick", "--no-maps", "--out", "r.html"]
    assert main(report) == 0
    assert "--directed" not in Path("r.html").read_text()  # the recipe says it
    assert "heterophily report graph.toml" in Path("r.html").read_text()


def test_words_become_the_same_source_again(tables: list[str]) -> None:
    source = graph_source(
        edges=Path("e.csv"),
        ignore="a,b",
        columns=["zip=category"],
        header=False,
        edge_type="kind",
        directed=False,
        self_loops=True,
    )
    assert source == GraphSource(
        edges="e.csv",
        ignore=("a", "b"),
        columns={"zip": "category"},
        has_header=False,
        edge_type="kind",
        direction="drop",
        self_loops="keep",
    )


def test_workers_open_plain_names_themselves(tables: list[str]) -> None:
    assert name_or_graph(GraphSource(graph="karate", offline=True)) == "karate"
    assert isinstance(name_or_graph(GraphSource(graph="karate", direction="keep")), Graph)
    GraphSource(graph="karate").write("k.toml")
    assert isinstance(name_or_graph(GraphSource(graph="k.toml")), Graph)
