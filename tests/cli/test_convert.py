"""``heterophily convert``: every format in, every format out, nothing written on bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heterophily.cli.app import main
from heterophily.data.graph import same_content
from heterophily.data.source import open_graph

EDGES = "source,target\na,b\nb,c\nb,a\na,b\nc,c\n"
NODES = "id,label,x1,x2\na,red,1,0\nb,blue,0,2.5\nc,red,1,1\n"


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "n.csv").write_text(NODES)
    return [
        "--edges",
        str(tmp_path / "e.csv"),
        "--nodes",
        str(tmp_path / "n.csv"),
        "--label",
        "label",
    ]


@pytest.mark.parametrize("target", ["graph.npz", "graph.graphml", "graph.gexf"])
def test_tables_become_a_file_that_holds_the_same_graph(
    tables: list[str], target: str, tmp_path: Path
) -> None:
    out = tmp_path / target
    assert main(["convert", *tables, "--out", str(out)]) == 0
    again = open_graph(out)
    assert (again.num_nodes, again.num_edges, again.num_features) == (3, 2, 2)
    assert again.class_names == ("blue", "red")
    assert main(["convert", str(out), "--out", str(tmp_path / "pair")]) == 0
    folder = tmp_path / "pair"
    pair = ["--edges", str(folder / "edges.csv"), "--nodes", str(folder / "nodes.csv")]
    assert main(["convert", *pair, "--out", str(tmp_path / "again.npz")]) == 0
    assert same_content(open_graph(tmp_path / "again.npz"), again)


def test_the_report_says_what_was_repaired(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *tables, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["duplicates_merged"] == 1
    assert report["self_loops_removed"] == 1
    assert report["one_way_edges"] == 1
    assert report["classes_with_one_node"] == ["blue"]
    assert report["written"] == []


def test_kept_loops_and_direction_are_kept(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *tables, "--directed", "--self-loops", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["is_directed"] is True
    assert report["edges"] == 4  # a>b, b>c, b>a and the loop of c
    assert report["self_loops_removed"] == 0


def test_bad_input_leaves_no_file(tables: list[str], tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\na,z\n")
    out = tmp_path / "graph.npz"
    assert main(["convert", *tables, "--out", str(out)]) == 2
    assert not out.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"e.csv", "n.csv"}
