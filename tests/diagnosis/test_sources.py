"""Each source of information is the linear algebra it claims to be, and none uses labels."""

from __future__ import annotations

import numpy as np
import pytest
from probed_graphs import blobs

from heterophily.data.catalog import load
from heterophily.data.graph import Graph
from heterophily.diagnosis import sources
from heterophily.diagnosis.sources import (
    NeighbourMean,
    bipartite_side,
    neighbour_features,
    own_signal,
    structure,
)
from heterophily.filters.normalization import NormalizedAdjacency


def side(edges: list[tuple[int, int]], nodes: int):
    source, target = zip(*edges, strict=True)
    return bipartite_side(Graph.from_edges(source, target, num_nodes=nodes).adjacency)


def random_graph(*, directed: bool = False, weighted: bool = False, seed: int = 0) -> Graph:
    """40 nodes of which the last two are alone, node 0 with a loop."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 38, (2, 90))
    ends = np.hstack([ends[:, ends[0] != ends[1]], [[0], [0]]])
    weights = rng.uniform(0.5, 2.0, ends.shape[1]) if weighted else None
    graph = Graph.from_edges(
        *ends,
        weight=weights,
        num_nodes=40,
        direction="keep" if directed else "drop",
        self_loops="keep",
        features=rng.normal(size=(40, 5)),
    )
    assert graph.adjacency.diagonal().any()
    return graph


def dense_walk(graph: Graph) -> np.ndarray:
    """Slow reference: D⁻¹A without loops; a node without neighbours has a row of zeros."""
    dense = graph.adjacency.toarray()
    np.fill_diagonal(dense, 0.0)
    total = dense.sum(axis=1, keepdims=True)
    return np.divide(dense, total, out=np.zeros_like(dense), where=total > 0)


VARIANTS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.mark.parametrize(("directed", "weighted"), VARIANTS)
def test_mean_is_the_mean_over_neighbours_without_the_node(directed: bool, weighted: bool) -> None:
    graph = random_graph(directed=directed, weighted=weighted)
    signal = np.random.default_rng(1).normal(size=(40, 3))
    operator, walk = NeighbourMean.of(graph), dense_walk(graph)
    np.testing.assert_allclose(operator.mean(signal), walk @ signal, atol=1e-12)
    rows = np.array([39, 0, 7])
    np.testing.assert_allclose(operator.mean(signal, rows), (walk @ signal)[rows], atol=1e-12)


@pytest.mark.parametrize(("directed", "weighted"), VARIANTS)
def test_two_edges_away_leaves_out_the_way_back(directed: bool, weighted: bool) -> None:
    graph = random_graph(directed=directed, weighted=weighted)
    signal = np.random.default_rng(1).normal(size=(40, 20)).astype(np.float32)
    walk = dense_walk(graph)
    back = np.diag(walk @ walk).copy()
    two = walk @ walk - np.diag(back)
    two /= np.maximum(1 - back, 1e-3)[:, None]
    two[back > 1 - 1e-3] = 0.0
    rows = np.arange(40)
    np.testing.assert_allclose(NeighbourMean.of(graph).returning(rows), back, atol=1e-7)
    _, one, found = neighbour_features(NeighbourMean.of(graph), signal, rows)
    np.testing.assert_allclose(one, walk @ signal, atol=1e-5)
    np.testing.assert_allclose(found, two @ signal, atol=1e-4)


def test_two_edges_away_of_a_pair_know_nothing_of_the_node() -> None:
    graph = Graph.from_edges([0], [1])
    signal = np.array([[5.0], [7.0]], np.float32)
    _, one, two = neighbour_features(NeighbourMean.of(graph), signal, np.arange(2))
    np.testing.assert_allclose(one[:, 0], [7, 5])
    np.testing.assert_allclose(two[:, 0], [0, 0])


def test_average_is_the_product_with_the_normalised_adjacency() -> None:
    graph = blobs(0.5)
    signal = own_signal(graph, seed=0)
    low, _, _ = neighbour_features(NeighbourMean.of(graph), signal, np.arange(graph.num_nodes))
    expected = NormalizedAdjacency.of(graph.adjacency, kind="random-walk") @ signal
    np.testing.assert_allclose(low, expected, atol=1e-5)


def test_own_signal_is_centred_and_keeps_what_a_linear_classifier_can_learn() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 3)) * [1, 1000, 0] + [0, 5000, 7]
    signal = own_signal(Graph.from_edges([0], [1], num_nodes=50, features=features), seed=0)
    np.testing.assert_allclose(signal.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(signal.std(axis=0), [1, 1, 0], atol=1e-5)
    wide = rng.normal(size=(50, 400))
    narrow = own_signal(Graph.from_edges([0], [1], num_nodes=50, features=wide), seed=0)
    assert narrow.shape[1] <= sources.FEATURE_COLUMNS
    centred = wide / wide.std(axis=0)
    centred = centred - centred.mean(axis=0)
    np.testing.assert_allclose(narrow @ narrow.T, centred @ centred.T, atol=0.05)


# --- structure ------------------------------------------------------------------------------------


def test_structure_holds_the_singular_directions_of_the_scaled_adjacency() -> None:
    graph = blobs(0.5, nodes=60, edges=200)
    dense = graph.adjacency.toarray()
    root = 1 / np.sqrt(np.maximum(dense.sum(axis=1), 1))
    scaled = root[:, None] * dense * root
    found = structure(NeighbourMean.of(graph), np.arange(60), seed=0)[:, :-2]
    expected = 60 * scaled @ scaled.T / np.square(scaled).sum()
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-4)


def test_structure_tells_degrees_as_logarithms() -> None:
    graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    found = structure(NeighbourMean.of(graph), np.arange(4), seed=0)
    np.testing.assert_allclose(found[:, -2], np.log1p([3, 2, 2, 1]))
    np.testing.assert_allclose(found[3, -1], np.log1p(3))


def test_renumbering_nodes_renumbers_the_structure_up_to_a_rotation() -> None:
    graph = load("davis")
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    matrix = graph.adjacency[order][:, order].tocoo()
    turned = Graph.from_edges(matrix.row, matrix.col, num_nodes=graph.num_nodes)
    rows = np.arange(graph.num_nodes)
    first, second = (structure(NeighbourMean.of(g), rows, seed=0) for g in (graph, turned))
    sketch, renumbered = first[order][:, :-3], second[:, :-3]
    np.testing.assert_allclose(renumbered @ renumbered.T, sketch @ sketch.T, atol=1e-4)
    np.testing.assert_allclose(second[:, -3:], first[order][:, -3:], atol=1e-9)


@pytest.mark.parametrize(("directed", "weighted"), VARIANTS)
def test_structure_of_odd_graphs_is_finite(directed: bool, weighted: bool) -> None:
    graph = random_graph(directed=directed, weighted=weighted)
    found = structure(NeighbourMean.of(graph), np.arange(40), seed=0)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[38:], 0, atol=1e-6)  # alone, and the graph has two sides not


def test_structure_of_an_edgeless_graph_is_zero() -> None:
    graph = Graph.from_edges([], [], num_nodes=6)
    assert not structure(NeighbourMean.of(graph), np.arange(6), seed=0).any()


def test_a_node_that_is_only_pointed_to_still_tells_who_points_to_it() -> None:
    """In a directed graph, columns are scaled by the degree of the node that is pointed to."""
    graph = Graph.from_edges([0, 1, 2, 3], [4, 4, 5, 5], direction="keep", num_nodes=6)
    found = structure(NeighbourMean.of(graph), np.arange(6), seed=0)
    same, other = found[0] @ found[1], found[0] @ found[2]
    assert np.linalg.norm(found[0, :-2]) > 0.1
    assert same > other + 0.1


# --- the two sides of a bipartite graph -----------------------------------------------------------


def test_sides_of_hand_made_graphs() -> None:
    np.testing.assert_array_equal(side([(0, 1), (0, 2)], 3), [1, 0, 0])  # a star: leaves are many
    np.testing.assert_array_equal(side([(0, 1), (0, 2)], 4), [1, 0, 0, 0.5])  # 3 is alone
    even = side([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    assert even[0] == even[2] != even[1] == even[3]


def test_every_component_has_its_larger_side_at_zero() -> None:
    found = side([(0, 1), (0, 2), (3, 4), (3, 5), (3, 6)], 7)
    np.testing.assert_array_equal(found, [1, 0, 0, 1, 0, 0, 0])


def test_an_odd_cycle_anywhere_means_no_sides() -> None:
    assert side([(0, 1), (1, 2), (2, 0)], 3) is None
    assert side([(0, 1), (2, 3), (3, 4), (4, 2)], 5) is None


def test_no_edges_mean_no_sides() -> None:
    assert bipartite_side(Graph.from_edges([], [], num_nodes=3).adjacency) is None


def test_direction_does_not_matter_for_sides() -> None:
    graph = Graph.from_edges([0, 2], [1, 1], direction="keep")
    found = bipartite_side(graph.adjacency, is_symmetric=False)
    np.testing.assert_array_equal(found, [0, 1, 0])


def test_a_large_graph_is_looked_at_in_full_when_no_odd_cycle_is_near(monkeypatch) -> None:
    monkeypatch.setattr(sources, "BALL", 3)
    ring = [(i, (i + 1) % 10) for i in range(10)]
    assert len(set(side(ring, 10))) == 2
    assert side([(i, (i + 1) % 11) for i in range(11)], 11) is None
    assert side([*ring, (10, 11), (11, 12), (12, 10)], 13) is None


def test_women_and_events_of_davis_are_two_sides() -> None:
    graph = load("davis")
    found = bipartite_side(graph.adjacency)
    assert found is not None
    assert len(set(zip(found, graph.labels, strict=True))) == 2
