"""Edge homophily, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.edge_homophily import edge_homophily


def test_one_of_three_edges_matches() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 1, 1, 0])
    assert edge_homophily(graph) == pytest.approx(1 / 3)


def test_a_loop_is_one_edge() -> None:
    graph = Graph.from_edges([0, 0], [0, 1], labels=[0, 1], self_loops="keep")
    assert edge_homophily(graph) == 0.5


def test_directed_edges_count_by_themselves() -> None:
    ends = ([0, 1, 0], [1, 0, 2])
    assert edge_homophily(Graph.from_edges(*ends, labels=[0, 0, 1])) == 0.5
    directed = Graph.from_edges(*ends, labels=[0, 0, 1], direction="keep")
    assert edge_homophily(directed) == pytest.approx(2 / 3)


def test_weights_are_shares_of_weight() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], weight=[3.0, 1.0], labels=[0, 0, 1])
    assert edge_homophily(graph) == 0.75


def test_edges_with_an_unlabelled_end_are_left_out() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, -1])
    assert edge_homophily(graph) == 0.5


@pytest.mark.parametrize("direction", ["drop", "keep"])
def test_loops_on_every_node_replace_stored_ones_and_match(direction: str) -> None:
    graph = Graph.from_edges(
        [0, 1, 0],
        [1, 2, 0],
        labels=[0, 0, 1],
        direction=direction,  # type: ignore[arg-type]
        self_loops="keep",
    )
    # two edges, one of them matching, and three loops
    assert edge_homophily(graph, self_loops="every-node") == pytest.approx(4 / 5)


def test_one_class_is_fully_homophilic() -> None:
    assert edge_homophily(Graph.from_edges([0], [1], labels=[0, 0])) == 1.0


def test_undefined_graphs_are_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="no node has a label"):
        edge_homophily(Graph.from_edges([0], [1]))
    with pytest.raises(InputError, match="it has no edge"):
        edge_homophily(Graph.from_edges([], np.zeros(0, int), labels=[0, 1]))
    with pytest.raises(InputError, match="no edge joins two labelled nodes"):
        edge_homophily(Graph.from_edges([0], [1], labels=[0, -1]))
    with pytest.raises(InputError, match="choose 'given' or 'every-node'"):
        edge_homophily(Graph.from_edges([0], [1], labels=[0, 0]), self_loops="all")  # type: ignore[arg-type]
