"""What the text says about the toy examples holds for the named graphs."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.synthetic.toy import TOY_GRAPHS, toy_graph
from heterophily.errors import UnknownNameError
from heterophily.filters.filter import HIGH, LOW
from heterophily.metrics.aggregation_homophily import (
    aggregation_homophily,
    aggregation_homophily_flags,
)
from heterophily.metrics.class_homophily import class_homophily
from heterophily.metrics.diversification import diversification_flags
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.metrics.node_homophily import node_homophily, node_homophily_values
from heterophily.report.toy_figures import similarity_matrix


def test_harmless_heterophily_is_seen_by_aggregation_homophily_alone() -> None:
    graph = toy_graph("harmless-heterophily")
    assert edge_homophily(graph) == node_homophily(graph) == class_homophily(graph) == 0.0
    assert aggregation_homophily(graph) == 1.0


def places(graph, *ids: int) -> list[int]:
    return [graph.node_ids.tolist().index(number) for number in ids]


def test_nodes_1_and_3_differ_from_most_neighbours_and_4_to_7_do_not() -> None:
    graph = toy_graph("diversification-helps")
    alike = node_homophily_values(graph)
    assert (alike[places(graph, 1, 3)] < 0.5).all()
    assert (alike[places(graph, 4, 5, 6, 7)] > 0.5).all()


def test_aggregation_confuses_nodes_1_and_3_with_class_2() -> None:
    graph = toy_graph("diversification-helps")
    similarity = similarity_matrix(graph, LOW)
    for node in places(graph, 1, 3):
        own = similarity[node, graph.labels == 0].mean()
        assert similarity[node, graph.labels == 1].mean() > own > 0
    confused = np.flatnonzero(~aggregation_homophily_flags(graph))
    assert confused.tolist() == places(graph, 1, 3)


def test_diversification_makes_4_to_7_negative_samples_of_1_and_3() -> None:
    graph = toy_graph("diversification-helps")
    similarity = similarity_matrix(graph, HIGH)
    assert (similarity[np.ix_(places(graph, 1, 3), places(graph, 4, 5, 6, 7))] < 0).all()
    assert diversification_flags(graph).all()


@pytest.mark.parametrize(("first", "second"), [(0, 3), (1, 2)])
def test_diversification_joins_classes_that_share_surroundings_but_no_edge(
    first: int, second: int
) -> None:
    """Classes 1 and 4, and classes 2 and 3, counted from 1 as in the paper."""
    graph = toy_graph("diversification-fails")
    block = np.ix_(graph.labels == first, graph.labels == second)
    assert graph.adjacency.toarray()[block].sum() == 0
    assert (similarity_matrix(graph, HIGH)[block] > 0).all()


def test_toy_graphs_carry_their_names_and_unknown_ones_are_refused() -> None:
    assert [make().name for make in TOY_GRAPHS.values()] == list(TOY_GRAPHS)
    with pytest.raises(UnknownNameError, match="did you mean 'diversification-fails'"):
        toy_graph("diversification-fail")
