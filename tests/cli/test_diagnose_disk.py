"""Tables and folders that memory cannot hold: metrics without a verdict, the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heterophily import load
from heterophily.cli import disk, warehouse
from heterophily.cli.app import main
from heterophily.metrics.catalog import compute_metrics


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write the karate club as tables; make its edges seem large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(disk, "_BYTES_OF_AN_EDGE", 2**40)
    monkeypatch.setattr(warehouse, "ENGINE_ROWS", 0)  # too many for a database
    graph = load("karate")
    source, target = graph.adjacency.nonzero()
    rows = [f"{a},{b}" for a, b in zip(source, target, strict=True)]
    Path("edges.csv").write_text("\n".join(["source,target", *rows]))
    names = [f"{node},{graph.class_names[y]}" for node, y in enumerate(graph.labels)]
    Path("nodes.csv").write_text("\n".join(["id,y", *names]))
    return ["diagnose", "--edges", "edges.csv", "--nodes", "nodes.csv", "--memory", "1GB"]


def test_tables_beyond_memory_are_counted_as_they_are(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tables, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["graph"]["edges"] == 78
    expected = compute_metrics(load("karate"))
    for name in ("edge_homophily", "node_homophily", "aggregation_homophily"):
        assert found["metrics"][name] == pytest.approx(expected[name], abs=1e-12)


def test_what_cannot_be_counted_as_it_is_is_converted_first(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tables[:-1], "200MB"]) == 0
    told = capsys.readouterr().out
    assert "the tables are converted to a graph on disk first" in told
    assert "34 nodes, 78 edges" in told
    assert sorted(path.name for path in Path().iterdir()) == ["edges.csv", "nodes.csv"]
