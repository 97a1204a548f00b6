"""Aggregation and feature similarity."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UndefinedError
from heterophily.filters.filter import IDENTITY
from heterophily.filters.normalization import normalized_adjacency
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


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_that_cancel_to_zero_are_zero_rows(is_sparse: bool) -> None:
    """Node 1 and its two neighbours have features that add up to zero, and not exactly."""
    features = np.array([[0.1, -0.7], [0.2, 0.1], [-0.1 - 0.2, 0.7 - 0.1], [1.0, 1.0], [2.0, 1.0]])
    graph = Graph.from_edges(
        [0, 1, 2, 3],
        [1, 2, 3, 4],
        labels=[0, 0, 0, 1, 1],
        features=sp.csr_array(features) if is_sparse else features,
    )
    aggregated = normalized_adjacency(graph.adjacency) @ features
    assert np.abs(aggregated[1]).max() < 1e-15
    for word in ("consistent", "inconsistent"):
        flags = aggregation_similarity_flags(graph, zero_rows=word)
        assert flags[1] == (word == "consistent")
    others = [
        aggregation_similarity_flags(graph, zero_rows=w)[[0, 2, 3, 4]]
        for w in ("consistent", "inconsistent")
    ]
    assert (others[0] == others[1]).all()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_one_huge_row_does_not_blur_the_others(is_sparse: bool) -> None:
    """The tolerance of a node is that of its own sums, not of the largest feature anywhere."""
    rng = np.random.default_rng(3)
    features = np.zeros((30, 4))
    features[:, :3] = rng.normal(size=(30, 3))
    labels = np.arange(30) % 3
    small = Graph.from_edges([], [], labels=labels, features=features)
    wanted = aggregation_similarity_flags(small, filter=IDENTITY)
    assert not wanted.all()
    features[0] = [0, 0, 0, 1e13]  # nobody else has this column
    large = Graph.from_edges(
        [], [], labels=labels, features=sp.csr_array(features) if is_sparse else features
    )
    products = features @ features.T
    same = labels[:, None] == labels
    own = (products * same).sum(1) / same.sum(1)
    other = (products * ~same).sum(1) / (~same).sum(1)
    flags = aggregation_similarity_flags(large, filter=IDENTITY)
    assert (flags[1:] == (own >= other)[1:]).all()


@pytest.mark.parametrize("factor", [1e300, 1e-300])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_huge_and_tiny_units_do_not_matter(is_sparse: bool, factor: float) -> None:
    """Products of huge numbers were infinite, those of tiny ones zero."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 4))
    ends, labels = rng.integers(0, 40, (2, 120)), rng.integers(0, 3, 40)

    def found(scaled: np.ndarray, **how: bool) -> float:
        given = sp.csr_array(scaled) if is_sparse else scaled
        graph = Graph.from_edges(*ends, num_nodes=40, labels=labels, features=given)
        return aggregation_similarity(graph, **how)

    for how in ({"normalize_features": True}, {"normalize_features": False}):
        assert found(factor * features, **how) == found(features, **how)
    rows = np.logspace(-300, 300, 40)[:, None]
    normalized = {"normalize_features": True}
    assert found(rows * features, **normalized) == found(features, **normalized)
    with pytest.raises(UndefinedError, match=r"range from .* to .*scale the columns"):
        found(rows * features, normalize_features=False)
