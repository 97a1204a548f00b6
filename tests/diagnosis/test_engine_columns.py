"""The columns of the probe from an engine are those of the same graph in memory."""

from __future__ import annotations

import numpy as np
import pytest
from warehouses import duckdb_with, in_memory, random_tables

pytest.importorskip("ibis", reason="ibis is not installed: pip install 'heterophily[warehouse]'")

from heterophily.data.warehouse.features import engine_features
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.diagnosis.engine_columns import EngineColumns
from heterophily.diagnosis.probe_columns import GraphColumns


@pytest.mark.parametrize("directed", [False, True])
def test_features_labels_and_degrees_of_a_sample_are_exact(directed: bool) -> None:
    edges, nodes = random_tables(3, 3, num_nodes=80, count=150)
    nodes = nodes.sort_by("id")
    graph = in_memory(edges, nodes, directed=directed)
    there = WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes", is_directed=directed)
    labelled = np.flatnonzero(graph.is_labelled)
    sizes = np.bincount(graph.labels[labelled])
    expected = GraphColumns(graph, labelled, 0, False, 1000)
    found = EngineColumns(there, sizes, engine_features(there), 0, False, 1000)
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
    assert "aggregated by the database, exactly" in found.notes[-1]
