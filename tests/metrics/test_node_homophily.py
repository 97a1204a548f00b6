"""Node homophily, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.node_homophily import node_homophily, node_homophily_values


def test_values_are_shares_of_neighbours_and_the_metric_their_mean() -> None:
    star = Graph.from_edges([0, 0, 0], [1, 2, 3], labels=[0, 0, 1, 1])
    np.testing.assert_allclose(node_homophily_values(star), [1 / 3, 1.0, 0.0, 0.0])
    assert node_homophily(star) == pytest.approx(1 / 3)


def test_nodes_without_labelled_neighbours_are_marked_and_left_out_of_the_mean() -> None:
    graph = Graph.from_edges([0, 2], [1, 3], labels=[0, 0, 1, -1, 1])
    np.testing.assert_array_equal(node_homophily_values(graph), [1, 1, np.nan, np.nan, np.nan])
    assert node_homophily(graph) == 1.0


def test_directed_neighbours_are_out_neighbours() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], labels=[0, 0, 1], direction="keep")
    np.testing.assert_array_equal(node_homophily_values(graph), [0.5, 0.0, np.nan])


def test_weights_are_shares_of_weight() -> None:
    graph = Graph.from_edges([0, 0], [1, 2], weight=[3.0, 1.0], labels=[0, 0, 1])
    assert node_homophily_values(graph).tolist() == [0.75, 1.0, 0.0]


def test_a_graph_without_labels_has_no_values_and_no_mean() -> None:
    graph = Graph.from_edges([0], [1])
    assert np.isnan(node_homophily_values(graph)).all()
    with pytest.raises(InputError, match="no node has a label"):
        node_homophily(graph)
