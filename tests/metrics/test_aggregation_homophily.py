"""Aggregation homophily: the paper's example, ties, conventions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.aggregation_homophily import (
    aggregation_homophily,
    aggregation_homophily_flags,
    modified_aggregation_homophily,
)
from heterophily.metrics.aggregation_similarity import aggregation_similarity
from heterophily.metrics.class_homophily import class_homophily
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.metrics.node_homophily import node_homophily


def test_bipartite_graph_has_zero_edge_homophily_and_full_aggregation_homophily() -> None:
    """Figure 1: the classes are the sides of a bipartite graph."""
    left, right = np.divmod(np.arange(12), 4)
    graph = Graph.from_edges(left, 3 + right, labels=[0] * 3 + [1] * 4)
    assert edge_homophily(graph) == node_homophily(graph) == class_homophily(graph) == 0.0
    assert aggregation_homophily(graph) == modified_aggregation_homophily(graph) == 1.0


def test_davis_southern_women_are_harmlessly_heterophilic() -> None:
    davis = nx.davis_southern_women_graph()
    labels = [davis.nodes[node]["bipartite"] for node in davis]
    matrix = nx.to_scipy_sparse_array(davis, format="csr")
    graph = Graph(adjacency=matrix, labels=labels)  # type: ignore[arg-type]
    assert edge_homophily(graph) == node_homophily(graph) == class_homophily(graph) == 0.0
    assert modified_aggregation_homophily(graph) == 1.0


def test_balanced_closed_neighbourhood_is_an_exact_tie() -> None:
    """Node 0 sees one node of each of three classes: equal means, whatever rounding says."""
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 4], labels=[0, 1, 2, 1, 2])
    assert aggregation_homophily_flags(graph, ties="consistent")[0]
    assert not aggregation_homophily_flags(graph, ties="inconsistent")[0]
    difference = aggregation_homophily(graph) - aggregation_homophily(graph, ties="inconsistent")
    assert difference == pytest.approx(1 / 5)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_aggregation_similarity_of_one_hot_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 50)
    graph = Graph.from_edges(*rng.integers(0, 50, (2, 120)), labels=labels)
    graph = graph.replace(features=np.eye(3)[labels])
    assert aggregation_homophily(graph) == aggregation_similarity(graph)


def test_graph_without_edges_is_fully_consistent() -> None:
    graph = Graph.from_edges([], np.zeros(0, int), labels=[0, 0, 1])
    assert aggregation_homophily(graph) == 1.0


def test_modified_value_is_never_negative() -> None:
    rng = np.random.default_rng(140)  # a graph found by search: fewer than half are consistent
    labels = rng.integers(0, 4, 12)
    graph = Graph.from_edges(*rng.integers(0, 12, (2, 30)), labels=labels)
    assert aggregation_homophily(graph) == pytest.approx(5 / 12)
    assert modified_aggregation_homophily(graph) == 0.0


def test_modified_value_is_rescaled() -> None:
    graph = Graph.from_edges([0, 0, 1], [2, 3, 3], labels=[0, 1, 1, 1])
    assert aggregation_homophily(graph) == 0.75
    assert modified_aggregation_homophily(graph) == 0.5


def test_unlabelled_nodes_stay_in_the_operator_but_are_not_compared() -> None:
    graph = Graph.from_edges([0, 1, 2], [2, 2, 3], labels=[0, 1, -1, 1])
    flags = aggregation_homophily_flags(graph)
    assert not flags[2]
    assert aggregation_homophily(graph) == flags.sum() / 3


def test_a_mask_restricts_the_comparison_and_not_the_labels_in_the_aggregation() -> None:
    # with all labels node 0 sees its own class through node 2; without, it sees only itself
    graph = Graph.from_edges([0, 0, 1], [2, 3, 3], labels=[0, 1, 1, 1])
    nodes = np.array([True, True, False, False])
    masked = graph.replace(labels=np.where(nodes, graph.labels, -1))
    assert aggregation_homophily(graph, nodes=nodes) == 0.5
    assert aggregation_homophily(masked) == 1.0


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="every labelled node has the same class"):
        aggregation_homophily(Graph.from_edges([0], [1], labels=[0, 0]))
