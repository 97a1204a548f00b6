"""Aggregation and feature similarity."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import IDENTITY
from heterophily.metrics.aggregation_similarity import (
    aggregation_similarity,
    aggregation_similarity_flags,
    feature_similarity,
)


def random_graph(seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    features = rng.poisson(0.4, (40, 9)).astype(float)
    features[:5] = 0.0
    return Graph.from_edges(
        *rng.integers(0, 40, (2, 70)), labels=rng.integers(0, 3, 40), features=features
    )


def test_feature_similarity_by_hand() -> None:
    # own / other means: node 0: 1/2, 0; node 1: 1/2, 1; node 2: 1, 1/2
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1], features=np.eye(2)[[0, 1, 1]])
    assert feature_similarity(graph) == pytest.approx(2 / 3)


def test_feature_similarity_is_the_identity_filter_and_ignores_the_edges() -> None:
    graph = random_graph(0)
    edgeless = graph.replace(adjacency=sp.csr_array((40, 40)))
    assert feature_similarity(graph) == feature_similarity(edgeless)
    assert feature_similarity(graph) == aggregation_similarity(graph, filter=IDENTITY)
    assert feature_similarity(edgeless) == aggregation_similarity(edgeless)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_unit_of_the_features_does_not_matter(scale: float) -> None:
    graph = random_graph(1)
    scaled = graph.replace(features=np.asarray(graph.features) * scale)
    np.testing.assert_array_equal(
        aggregation_similarity_flags(scaled), aggregation_similarity_flags(graph)
    )


def test_dense_and_sparse_single_and_double_precision_features_agree() -> None:
    graph = random_graph(2)
    expected = aggregation_similarity_flags(graph, normalize_features=True)
    for features in (sp.csr_array(graph.features), np.asarray(graph.features, dtype=np.float32)):
        same = graph.replace(features=features)
        flags = aggregation_similarity_flags(same, normalize_features=True)
        np.testing.assert_array_equal(flags, expected)


def test_normalized_rows_equal_features_divided_by_their_sum() -> None:
    graph = random_graph(3)
    features = np.asarray(graph.features)
    divided = features / np.maximum(features.sum(axis=1, keepdims=True), 1e-300)
    assert feature_similarity(graph, normalize_features=True) == feature_similarity(
        graph.replace(features=divided)
    )


def test_nodes_without_features_are_consistent_unless_asked_otherwise() -> None:
    graph = random_graph(4)
    gap = feature_similarity(graph) - feature_similarity(graph, zero_rows="inconsistent")
    zero_rows = int((np.asarray(graph.features) == 0).all(axis=1).sum())
    assert zero_rows >= 5
    assert gap == pytest.approx(zero_rows / 40)


def test_missing_and_all_zero_features_are_refused() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 1])
    with pytest.raises(InputError, match="the graph has no features"):
        aggregation_similarity(graph)
    with pytest.raises(InputError, match="features of all labelled nodes are zero"):
        feature_similarity(graph.replace(features=np.zeros((2, 3))))
