"""A graph on disk is diagnosed as the same graph in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from warehouses import in_memory, random_tables

from heterophily import Graph, load
from heterophily.data.disk import sample
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.write import write_disk_graph
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.disk import diagnose_disk, sampled_chance, small_labels
from heterophily.diagnosis.disk_columns import DiskColumns
from heterophily.diagnosis.probe_columns import GraphColumns
from heterophily.diagnosis.shuffle import edge_chance
from heterophily.metrics.collect.disk import disk_statistics


def both(tmp_path: Path, *, directed: bool, words: bool = False) -> tuple[Graph, DiskGraph]:
    edges, nodes = random_tables(3, 3, num_nodes=80, count=150)
    graph = in_memory(edges, nodes, directed=directed)
    if words:
        rng = np.random.default_rng(0)
        features = rng.poisson(0.1, (graph.num_nodes, 150)).astype(np.float32)
        source, target = graph.adjacency.nonzero()
        graph = Graph.from_edges(
            source, target, features=features, labels=graph.labels, num_nodes=graph.num_nodes
        )
    return graph, write_disk_graph(graph, tmp_path / "g.disk")


def columns(graph: Graph, disk: DiskGraph, most: int) -> tuple[DiskColumns, GraphColumns]:
    labelled = np.flatnonzero(graph.is_labelled)
    expected = GraphColumns(graph, labelled, 0, False, most)
    return DiskColumns(disk, small_labels(disk), 0, False, most), expected


@pytest.mark.parametrize("most", [1000, 40])
@pytest.mark.parametrize("directed", [False, True])
def test_the_columns_of_a_sample_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directed: bool, most: int
) -> None:
    monkeypatch.setattr(sample, "PIECE", 16)  # entries: many pieces
    monkeypatch.setattr(sample, "_BLOCK", 8)
    found, expected = columns(*both(tmp_path, directed=directed), most)
    np.testing.assert_array_equal(found.sample.nodes, expected.rows)
    for name in ("own", "average", "mean", "two"):
        np.testing.assert_allclose(found.blocks[name], expected.blocks[name], atol=2e-5)
    np.testing.assert_allclose(
        found.blocks["structure"][:, -2:], expected.blocks["structure"][:, -2:], atol=1e-6
    )
    for (mine, here), (theirs, memory) in zip(found.folds, expected.folds, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(here.one, memory.one)
        np.testing.assert_allclose(here.two, memory.two, atol=1e-6)
    (near, signal), (every, all_signals) = found.near(), expected.near()
    np.testing.assert_allclose(near @ signal, every @ all_signals, atol=1e-4)


def test_words_are_scaled_by_rows_and_wide_features_projected(tmp_path: Path) -> None:
    found, expected = columns(*both(tmp_path, directed=False, words=True), 1000)
    assert found.blocks["own"].shape[1] == 80  # as many as nodes, fewer than 150
    for name in ("own", "mean", "two"):  # the same up to a rotation of the directions
        here, there = found.blocks[name], expected.blocks[name]
        scale = np.abs(there @ there.T).max()
        np.testing.assert_allclose(here @ here.T, there @ there.T, atol=0.02 * scale)


@pytest.mark.parametrize("most", [10, 50_000])
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_edges_are_shuffled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directed: bool, most: int
) -> None:
    monkeypatch.setattr("heterophily.diagnosis.disk.MAX_EDGES", most)
    monkeypatch.setattr("heterophily.diagnosis.shuffle.MAX_EDGES", most)
    graph, disk = both(tmp_path, directed=directed)
    found = sampled_chance(disk, disk_statistics(disk), small_labels(disk), seed=3)
    assert found == edge_chance(graph, seed=3)


def test_the_verdict_is_that_in_memory(tmp_path: Path) -> None:
    graph = load("davis")
    disk = write_disk_graph(graph, tmp_path / "davis.disk")
    found, expected = diagnose_disk(disk), diagnose(graph)
    assert found.verdict.kind == expected.verdict.kind
    for name in ("edge_homophily", "node_homophily", "aggregation_homophily"):
        assert found.metrics.values[name] == pytest.approx(expected.metrics.values[name])
    assert "stayed on disk" in found.notes[0]
