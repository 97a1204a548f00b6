"""Theorem 1, entry by entry, and why it needs two classes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily.data.graph import Graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.filters.filter import HIGH
from heterophily.metrics.diversification import diversification_distinguishability
from heterophily.report.toy_figures import similarity_matrix

nodes = st.integers(0, 9)


@settings(max_examples=100, deadline=None)
@given(
    labels=st.lists(st.integers(0, 1), min_size=10, max_size=10).filter(lambda z: 0 < sum(z) < 10),
    edges=st.lists(st.tuples(nodes, nodes), max_size=40),
)
def test_with_two_classes_high_pass_similarity_has_the_sign_of_the_labels(
    labels: list[int], edges: list[tuple[int, int]]
) -> None:
    """S(I - A, Z) is >= 0 within a class and <= 0 across: each entry, not just the means."""
    ends = np.array(edges, dtype=int).reshape(-1, 2).T
    graph = Graph.from_edges(*ends, labels=labels, features=np.eye(2)[labels])
    similarity = similarity_matrix(graph, HIGH)
    is_same = np.equal.outer(graph.labels, graph.labels)
    assert similarity[is_same].min() >= -1e-12
    assert similarity[~is_same].max() <= 1e-12


@settings(max_examples=20, deadline=None)
@given(level=st.floats(0, 1), seed=st.integers(0, 99))
def test_every_generated_two_class_graph_is_fully_distinguishable(level: float, seed: int) -> None:
    graph = edge_homophily_graph(
        homophily=level,
        edges=400,
        features=np.eye(2),
        labels=np.array([0, 1]),
        nodes_per_class=[50, 70],
        rng=np.random.default_rng(seed),
    )
    assert diversification_distinguishability(graph) == 1.0


def test_with_three_classes_it_can_fail() -> None:
    """Two small classes that hang on a large one by a single node are alike to the high pass."""
    labels = np.array([0] * 4 + [1] * 4 + [2])
    graph = Graph.from_edges(np.arange(8), np.full(8, 8), labels=labels, features=np.eye(3)[labels])
    assert diversification_distinguishability(graph) < 1.0
