"""Tables and folders that memory cannot hold: the same numbers and the same verdict, from disk."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from heterophily import load
from heterophily.cli import disk
from heterophily.cli.app import main
from heterophily.metrics.catalog import compute_metrics

LABEL_METRICS = ("edge_homophily", "node_homophily", "aggregation_homophily")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write the karate club as tables; make its edges seem large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(disk, "_BYTES_OF_AN_EDGE", 2**40)
    graph = load("karate")
    source, target = graph.adjacency.nonzero()
    rows = [f"{a},{b}" for a, b in zip(source, target, strict=True)]
    Path("edges.csv").write_text("\n".join(["source,target", *rows]))
    names = [f"{node},{graph.class_names[y]}" for node, y in enumerate(graph.labels)]
    Path("nodes.csv").write_text("\n".join(["id,y", *names]))
    return ["diagnose", "--edges", "edges.csv", "--nodes", "nodes.csv", "--memory", "1GB"]


def test_tables_beyond_memory_get_the_verdict_of_memory(
    tables: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tables, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in Path().iterdir()) == ["edges.csv", "nodes.csv"]
    monkeypatch.setattr(disk, "_BYTES_OF_AN_EDGE", 1)
    assert main([*tables, "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    assert found["verdict"]["kind"] == expected["verdict"]["kind"]
    assert found["graph"]["edges"] == expected["graph"]["edges"] == 78
    for name in LABEL_METRICS:
        assert found["metrics"][name] == pytest.approx(expected["metrics"][name], abs=1e-9)


def test_the_command_says_that_it_converts(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tables, "--quick", "--no-report"]) == 0
    told = capsys.readouterr().out
    assert "the limit is 1.0 GB: they are converted to disk first" in told
    assert "The graph stayed on disk" in " ".join(told.split())


def test_a_folder_beyond_memory_is_diagnosed_where_it_is(
    tables: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *tables[1:5], "--out", "karate.disk"]) == 0
    monkeypatch.setattr("heterophily.data.disk.graph.DiskGraph.bytes_in_memory", 2**40)
    capsys.readouterr()
    assert main(["diagnose", "karate.disk", "--memory", "1GB", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["graph"]["edges"] == 78
    assert found["probe"] is not None
    assert found["next"]["command"].startswith("heterophily train auto karate.disk")


@pytest.mark.parametrize(("needed", "word"), [(1, "train gcn"), (2**50, "train auto")])
def test_the_next_command_is_one_that_memory_allows(
    tables: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    needed: int,
    word: str,
) -> None:
    monkeypatch.setattr("heterophily.batches.fits.memory_of", lambda *_: needed)
    assert main(["convert", *tables[1:5], "--out", "karate.disk"]) == 0
    capsys.readouterr()
    assert main(["diagnose", "karate.disk", "--memory", "1GB", "--quick", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["next"]["command"]
    assert told.startswith(f"heterophily {word}")


def test_what_a_folder_cannot_keep_is_refused_with_what_to_do(
    tables: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *tables[1:5], "--edge-type", "kind", "--out", "k.disk"]) == 2
    assert "leave out --edge-type" in capsys.readouterr().err


def test_without_room_for_a_conversion_the_metrics_are_counted_and_why_is_said(
    tables: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(2**20, 2**19, 2**19))
    assert main(tables) == 0
    told = capsys.readouterr().out
    assert "There is no verdict: the probe needs the graph on disk" in told
    assert main([*tables, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = compute_metrics(load("karate"))
    for name in LABEL_METRICS:
        assert found["metrics"][name] == pytest.approx(expected[name], abs=1e-12)
