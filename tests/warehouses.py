"""Graphs as tables in engines, for the tests of warehouses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterophily.data.graph import Graph
from heterophily.data.tables import read_tables
from heterophily.data.warehouse.connect import connect, quiet
from heterophily.metrics.aggregation_homophily import aggregation_homophily_flags
from heterophily.metrics.catalog import LINEAR, METRICS, compute_metrics
from heterophily.metrics.class_compatibility import class_compatibility
from heterophily.metrics.label_counts import class_sizes, label_counts
from heterophily.metrics.statistics import LabelStatistics


def edge_rows(rng: np.random.Generator, num_nodes: int, count: int) -> pa.Table:
    """Random edges with loops and duplicates in both directions; the last two nodes have none."""
    ends = rng.integers(0, num_nodes - 2, (2, count))
    again = np.concatenate([ends, ends[::-1, : count // 5], ends[:, : count // 7]], axis=1)
    return pa.table({"source": 3 * again[0] - 7, "target": 3 * again[1] - 7})


def node_rows(
    rng: np.random.Generator, num_nodes: int, classes: int, *, unlabelled: bool
) -> pa.Table:
    """Nodes in no order: a label, two numbers (one with gaps), a count, a word."""
    labels = rng.integers(-1 if unlabelled else 0, classes, num_nodes)
    height = np.where(labels >= 0, labels, 0) + rng.normal(size=num_nodes)
    table = pa.table(
        {
            "id": 3 * np.arange(num_nodes) - 7,
            "label": [None if k < 0 else f"class {k}" for k in labels],
            "height": height,
            "weight_kg": pa.array(rng.normal(70, 9, num_nodes), mask=rng.random(num_nodes) < 0.1),
            "visits": rng.poisson(2, num_nodes),
            "city": rng.choice(["Rome", "Oslo", "Lima"], num_nodes),
        }
    )
    return table.take(rng.permutation(num_nodes))


def write_files(folder: Path, edges: pa.Table, nodes: pa.Table) -> tuple[str, str]:
    """Write both tables as Parquet."""
    names = str(folder / "edges.parquet"), str(folder / "nodes.parquet")
    for name, table in zip(names, (edges, nodes), strict=True):
        pq.write_table(table, name)
    return names


def random_tables(
    seed: int, classes: int, *, unlabelled: bool = True, num_nodes: int = 120, count: int = 400
) -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(seed)
    return (
        edge_rows(rng, num_nodes, count),
        node_rows(rng, num_nodes, classes, unlabelled=unlabelled),
    )


def in_memory(edges: pa.Table, nodes: pa.Table, *, directed: bool = False) -> Graph:
    return read_tables(edges, nodes, direction="keep" if directed else "drop")


def duckdb_with(edges: pa.Table, nodes: pa.Table) -> Any:
    """Return a DuckDB that holds both tables."""
    connection = connect("duckdb://")
    with quiet():
        connection.create_table("edges", edges)
        connection.create_table("nodes", nodes)
    return connection


LABEL_METRICS = [name for name in LINEAR if METRICS[name].needs == "labels"]


def same_numbers(counted: LabelStatistics, graph: Graph) -> None:
    """Assert that an engine counted what memory counts."""
    np.testing.assert_array_equal(counted.class_pairs, label_counts(graph).class_pairs)
    np.testing.assert_array_equal(counted.sizes, class_sizes(graph))
    np.testing.assert_array_equal(class_compatibility(counted), class_compatibility(graph))
    assert counted.class_names == graph.class_names
    assert (counted.num_nodes, counted.num_edges) == (graph.num_nodes, graph.num_edges)
    assert counted.consistent[0] == aggregation_homophily_flags(graph).sum()
    found, expected = compute_metrics(counted), compute_metrics(graph)
    for name in LABEL_METRICS:
        if name == "effective_homophily" or (graph.is_directed and name == "two_hop_homophily"):
            assert "in memory only" in found.reasons[name]
        elif expected[name] is None:
            assert found[name] is None
        else:
            # Roots of eigenvalues that are zero but for rounding enter this one.
            close = 1e-7 if name == "neighbourhood_identifiability" else 1e-9
            assert found[name] == pytest.approx(expected[name], abs=close)
