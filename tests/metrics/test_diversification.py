"""Diversification distinguishability: Theorem 1 and its edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily.data.graph import Graph
from heterophily.metrics.diversification import (
    diversification_distinguishability,
    diversification_flags,
)

nodes = st.integers(0, 11)


@settings(max_examples=200, deadline=None)
@given(
    labels=st.lists(st.integers(0, 1), min_size=12, max_size=12).filter(
        lambda labels: 0 < sum(labels) < 12
    ),
    edges=st.lists(st.tuples(nodes, nodes), max_size=40),
    direction=st.sampled_from(["drop", "keep"]),
)
def test_two_class_graph_is_fully_diversification_distinguishable(
    labels: list[int], edges: list[tuple[int, int]], direction: str
) -> None:
    """Theorem 1: C = 2, X = Z and the random-walk operator."""
    ends = np.array(edges, dtype=int).reshape(-1, 2).T
    graph = Graph.from_edges(
        *ends,
        labels=labels,
        features=np.eye(2)[labels],
        direction=direction,  # type: ignore[arg-type]
        self_loops="keep",
    )
    assert diversification_distinguishability(graph) == 1.0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_theorem_1_holds_for_weighted_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.arange(30) % 2
    graph = Graph.from_edges(
        *rng.integers(0, 30, (2, 80)),
        weight=rng.exponential(size=80),
        labels=labels,
        features=np.eye(2)[labels],
    )
    assert diversification_distinguishability(graph) == 1.0


def test_three_classes_need_not_be_distinguishable() -> None:
    rng = np.random.default_rng(341)  # a graph found by search
    labels = rng.integers(0, 3, 8)
    graph = Graph.from_edges(*rng.integers(0, 8, (2, 8)), labels=labels, features=np.eye(3)[labels])
    assert diversification_distinguishability(graph) == 0.75


def test_a_node_equal_to_its_neighbours_is_distinguishable() -> None:
    """(I - Â)X is zero there; three thirds of 0.1 must not count as more or less than 0.1."""
    features = np.array([[0.1, 0.7]] * 3 + [[0.3, 0.0]] * 2 + [[0.9, 0.2]])
    graph = Graph.from_edges(
        [0, 1, 0, 3, 4], [1, 2, 2, 4, 5], labels=[0, 0, 1, 1, 0, 1], features=features
    )
    assert diversification_flags(graph)[:3].all()


def test_unlabelled_nodes_are_not_flagged_and_not_counted() -> None:
    labels = [0, 1, -1, 0]
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=labels, features=np.eye(4))
    flags = diversification_flags(graph)
    assert not flags[2]
    assert diversification_distinguishability(graph) == flags.sum() / 3
