"""Every comparison of the paper in exact rational arithmetic: no tie is lost to rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.metrics.aggregation_homophily import aggregation_homophily_flags
from heterophily.metrics.aggregation_similarity import aggregation_similarity_flags
from heterophily.metrics.diversification import diversification_flags

Rows = list[list[Fraction]]


def random_graph(seed: int, num_classes: int) -> Graph:
    rng = np.random.default_rng([seed, num_classes])
    nodes = int(rng.integers(num_classes + 1, 14))
    labels = rng.integers(0, num_classes, nodes)
    labels[:num_classes] = np.arange(num_classes)
    edges = int(rng.integers(0, 3 * nodes))
    features = rng.integers(0, 3, (nodes, 3))  # few values: equal rows and zero rows are common
    return Graph.from_edges(*rng.integers(0, nodes, (2, edges)), labels=labels, features=features)


def aggregate(graph: Graph, signal: Rows) -> Rows:
    """Return D̃⁻¹ (A + I) times a signal."""
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    result = []
    for v in range(graph.num_nodes):
        members = [v, *indices[indptr[v] : indptr[v + 1]].tolist()]
        columns = zip(*(signal[u] for u in members), strict=True)
        result.append([sum(column) / Fraction(len(members)) for column in columns])
    return result


def exact_means(graph: Graph, signal: Rows) -> list[tuple[Fraction, Fraction]]:
    """Return the mean similarity of each node to its class and to the others."""
    labels, result = graph.labels.tolist(), []
    for v, row in enumerate(signal):
        same: list[Fraction] = []
        others: list[Fraction] = []
        for u, column in enumerate(signal):
            dot = sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            (same if labels[u] == labels[v] else others).append(dot)
        result.append((sum(same) / Fraction(len(same)), sum(others) / Fraction(len(others))))
    return result


def exact_rows(matrix: np.ndarray) -> Rows:
    return [[Fraction(int(value)) for value in row] for row in matrix]


@pytest.mark.parametrize("num_classes", [2, 3, 4, 5, 6])
def test_flags_equal_rational_arithmetic(num_classes: int) -> None:
    ties = zeros = 0
    for seed in range(40):
        graph = random_graph(seed, num_classes)
        one_hot = exact_rows(np.eye(num_classes)[graph.labels])
        features = exact_rows(np.asarray(graph.features))
        low = aggregate(graph, features)
        high = [
            [a - b for a, b in zip(x, y, strict=True)] for x, y in zip(features, low, strict=True)
        ]

        label_means = exact_means(graph, aggregate(graph, one_hot))
        expected = [own >= other for own, other in label_means]
        strict = [own > other for own, other in label_means]
        assert aggregation_homophily_flags(graph).tolist() == expected
        assert aggregation_homophily_flags(graph, ties="inconsistent").tolist() == strict
        ties += sum(own == other for own, other in label_means)

        assert aggregation_similarity_flags(graph).tolist() == [
            own >= other for own, other in exact_means(graph, low)
        ]
        high_means = exact_means(graph, high)
        assert diversification_flags(graph).tolist() == [
            own >= 0 and other <= 0 for own, other in high_means
        ]
        zeros += sum(own == 0 or other == 0 for own, other in high_means)
    assert ties > 0  # the cases that rounding could flip did occur
    assert zeros > 0
