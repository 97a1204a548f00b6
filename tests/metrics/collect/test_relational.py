"""Metrics of tables in an engine are those of the same graph in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from postgres_server import binaries, postgres_server
from warehouses import duckdb_with, in_memory, random_tables, same_numbers

pytest.importorskip("ibis", reason="ibis is not installed: pip install 'heterophily[warehouse]'")

from heterophily.data.warehouse import features as features_in_engine
from heterophily.data.warehouse.connect import connect, quiet
from heterophily.data.warehouse.features import engine_features
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.metrics.aggregation_homophily import aggregation_homophily
from heterophily.metrics.catalog import compute_metrics
from heterophily.metrics.collect import relational
from heterophily.metrics.collect.relational import relational_statistics
from heterophily.metrics.collect.relational_features import similarity_counts


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_every_label_metric_equals_that_in_memory(
    monkeypatch: pytest.MonkeyPatch, classes: int, directed: bool
) -> None:
    monkeypatch.setattr(relational, "MOST_SUMS", 25)
    tables = random_tables(classes, classes, unlabelled=classes != 3)
    graph = in_memory(*tables, directed=directed)
    there = WarehouseGraph.open(duckdb_with(*tables), "edges", "nodes", is_directed=directed)
    same_numbers(relational_statistics(there), graph)
    assert there.notes == graph.notes


def test_equal_means_count_as_consistent_also_in_an_engine() -> None:
    rng = np.random.default_rng(0)  # two classes: balanced neighbourhoods are common
    edges = pa.table(
        dict(zip(("source", "target"), rng.integers(0, 4_000, (2, 8_000)), strict=True))
    )
    nodes = pa.table({"id": np.arange(4_000), "label": rng.integers(0, 2, 4_000)})
    there = WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes")
    assert aggregation_homophily(relational_statistics(there)) == aggregation_homophily(
        in_memory(edges, nodes)
    )


def test_words_as_ids_and_nodes_that_only_edges_name() -> None:
    edges = pa.table({"src": ["a", "b", "c", "x"], "dst": ["b", "c", "d", "a"]})
    nodes = pa.table({"id": ["a", "b", "c", "d"], "label": ["1", "0", "1", None]})
    there = WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes")
    same_numbers(relational_statistics(there), in_memory(edges, nodes))
    assert there.num_nodes == 5
    assert "taken as unlabelled" in there.remarks[-1]


def test_whole_floats_are_classes() -> None:
    edges = pa.table({"src": [0, 1, 2], "dst": [1, 2, 3]})
    nodes = pa.table({"id": [0, 1, 2, 3], "label": [2.0, 10.0, None, 2.0]})
    there = WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes")
    assert there.class_names == ("2", "10")
    assert relational_statistics(there).sizes.tolist() == [2, 1]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    if binaries() is None:
        pytest.skip("there is no PostgreSQL on this machine")
    with postgres_server() as server:
        yield server.database()


def test_postgresql_counts_as_memory_does(postgres_url: str) -> None:
    tables = random_tables(5, 3)
    connection: Any = connect(postgres_url)
    with quiet():
        for name, table in zip(("edges", "nodes"), tables, strict=True):
            connection.create_table(name, table)
    there = WarehouseGraph.open(connection, "public.edges", "public.nodes")
    same_numbers(relational_statistics(there), in_memory(*tables))
    assert there.notes == in_memory(*tables).notes
    connection.disconnect()


FEATURE_METRICS = [
    "aggregation_similarity",
    "feature_similarity",
    "diversification_distinguishability",
]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_metrics_of_features_equal_those_in_memory(
    monkeypatch: pytest.MonkeyPatch, classes: int, directed: bool
) -> None:
    monkeypatch.setattr(features_in_engine, "SAMPLED", 100)  # of 120 rows: medians are asked for
    tables = random_tables(classes + 20, classes)
    graph = in_memory(*tables, directed=directed)
    there = WarehouseGraph.open(duckdb_with(*tables), "edges", "nodes", is_directed=directed)
    features = engine_features(there)
    assert features is not None
    assert features.names == graph.feature_names
    counted = relational_statistics(there)
    counted = replace(counted, similarities=similarity_counts(features, counted.sizes))
    found, expected = (compute_metrics(of, names=FEATURE_METRICS) for of in (counted, graph))
    assert found.values == expected.values


def test_features_that_are_too_many_or_too_unequal_are_told() -> None:
    edges, nodes = random_tables(0, 2)
    nodes = nodes.select(["id", "label", "height"])
    nodes = nodes.append_column("far", pa.array(np.r_[1e9, np.zeros(nodes.num_rows - 1)]))
    there = WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes")
    features = engine_features(there, encode=False)
    assert features is not None
    sizes = relational_statistics(there).sizes
    assert "factor of 100,000" in str(similarity_counts(features, sizes))
    wide = replace(features, names=tuple(map(str, range(9_000))))
    object.__setattr__(wide, "sums", features.sums)
    assert "--features" in str(similarity_counts(wide, sizes))
