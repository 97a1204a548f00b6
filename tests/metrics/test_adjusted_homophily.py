"""Adjusted homophily, worked out by hand and against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.adjusted_homophily import adjusted_homophily


def test_hand_worked_value() -> None:
    # path a a b b: H_edge 2/3, D = (3, 3), 2|E| = 6
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1])
    assert adjusted_homophily(graph) == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))


@pytest.mark.parametrize("directed", [False, True])
def test_it_is_the_attribute_assortativity_of_networkx(directed: bool) -> None:
    rng = np.random.default_rng(3)
    ends, labels = rng.integers(0, 40, (2, 150)), rng.integers(0, 4, 40)
    graph = Graph.from_edges(*ends, labels=labels, direction="keep" if directed else "drop")
    other = nx.from_scipy_sparse_array(
        graph.adjacency, create_using=nx.DiGraph if directed else nx.Graph
    )
    nx.set_node_attributes(other, dict(enumerate(labels.tolist())), "label")
    expected = nx.attribute_assortativity_coefficient(other, "label")
    assert adjusted_homophily(graph) == pytest.approx(expected)


def test_edges_within_one_class_only_are_refused() -> None:
    with pytest.raises(InputError, match="all edges lie within one class"):
        adjusted_homophily(Graph.from_edges([0], [1], labels=[0, 0, 1]))
