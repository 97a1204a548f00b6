"""Class homophily, worked out by hand."""

from __future__ import annotations

import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.class_homophily import class_homophily


def test_excess_over_the_class_shares() -> None:
    # path a a b b: h = 2/3 for both, shares 1/2
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1])
    assert class_homophily(graph) == pytest.approx(2 * (2 / 3 - 1 / 2))


def test_negative_excess_counts_as_zero() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0])
    assert class_homophily(graph) == 0.0


def test_a_class_without_edges_adds_nothing_but_counts_in_the_shares() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1, 2])
    assert class_homophily(graph) == pytest.approx((1.0 - 0.5) / 2)


def test_only_classes_with_labelled_nodes_count() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 2, 2], class_names=("a", "b", "c"))
    assert class_homophily(graph) == pytest.approx(2 * (2 / 3 - 1 / 2))


def test_directed_edges_belong_to_the_class_of_their_source() -> None:
    graph = Graph.from_edges([0, 0, 2], [1, 2, 0], labels=[0, 0, 1], direction="keep")
    assert class_homophily(graph) == 0.0
    graph = Graph.from_edges([0, 1, 2], [1, 0, 0], labels=[0, 0, 1], direction="keep")
    assert class_homophily(graph) == pytest.approx(1 - 2 / 3)


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="every labelled node has the same class"):
        class_homophily(Graph.from_edges([0], [1], labels=[0, 0]))
