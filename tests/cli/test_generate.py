"""``heterophily generate`` writes what it says."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli.generate import generate
from heterophily.data.npz import read_npz
from heterophily.errors import HeterophilyError
from heterophily.metrics.edge_homophily import edge_homophily


@pytest.fixture
def run():
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(generate)

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if isinstance(result.exception, HeterophilyError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


@pytest.mark.parametrize("kind", ["edge-homophily", "degree-then-edges", "regular"])
def test_the_file_holds_the_asked_graph(run, tmp_path, kind: str) -> None:
    out = tmp_path / "made.npz"
    text = run(out, "--kind", kind, "--homophily", "0.3", "--nodes", "50", "--degree", "6")
    assert "nodes per class  50, 50, 50, 50, 50" in text
    graph = read_npz(out)
    assert graph.is_directed == (kind == "regular")
    assert (graph.num_nodes, graph.num_classes, graph.num_features) == (250, 5, 16)
    assert graph.adjacency.nnz / 250 == pytest.approx(6)
    assert edge_homophily(graph) == pytest.approx(0.3, abs=0.005)
    assert f"wrote  {out}" in text


def test_classes_may_differ_in_size_and_homophily(run, tmp_path) -> None:
    out = tmp_path / "made.npz"
    printed = run(
        out, "--kind", "class-homophily", "--homophily", "0.8,0.3", "--classes", "2",
        "--nodes", "300,100", "--base", "none", "--json",
    )  # fmt: skip
    data = json.loads(printed)
    graph = read_npz(out)
    assert np.bincount(graph.labels).tolist() == [300, 100]
    assert graph.num_features == 0
    assert data["metrics"]["edge_homophily"] == pytest.approx(edge_homophily(graph))
    assert data["written"] == [str(out)]


def test_features_come_from_the_base(run, tmp_path) -> None:
    out = tmp_path / "made.npz"
    run(out, "--base", "digits", "--nodes", "20", "--classes", "3", "--degree", "4")
    assert read_npz(out).num_features == 64


def test_the_seed_decides_the_file(run, tmp_path) -> None:
    made = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        run(tmp_path / f"{name}.npz", "--nodes", "20", "--degree", "4", "--seed", seed)
        made.append(read_npz(tmp_path / f"{name}.npz").content_hash)
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--homophily", "much"], "--homophily 'much': write numbers"),
        (["--homophily", "0.2,0.3"], "one number, unless --kind class-homophily"),
        (["--homophily", "1.2"], "homophily=1.2"),
        (["--nodes", "10,20"], "give one number, or 5"),
        (["--nodes", "2.5"], "whole and positive"),
        (["--classes", "0"], "--classes 0"),
        (["--kind", "regulr"], "did you mean 'regular'"),
        (["--kind", "regular", "--degree", "2.5"], "--degree 2.5"),
        (
            ["--nodes", "3", "--degree", "50"],
            "room for 15 edges within classes, but 75 are asked for",
        ),
        (["--base", "nothing"], "unknown dataset or graph file 'nothing'"),
    ],
)
def test_bad_wishes_are_one_sentence(run, tmp_path, arguments, message) -> None:
    with pytest.raises(HeterophilyError, match=message) as caught:
        run(tmp_path / "made.npz", *arguments)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "made.npz").exists()


def test_an_unwritable_place_is_refused_before_any_work(run, tmp_path) -> None:
    with pytest.raises(HeterophilyError, match="no such folder"):
        run(tmp_path / "nowhere" / "made.npz", "--nodes", "1000000000")
