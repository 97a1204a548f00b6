"""Counting by class against the dense product."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.metrics import neighbour_classes as module
from heterophily.metrics.neighbour_classes import count_by_class


def random_graph(seed: int, *, nodes: int = 60, classes: int = 4, **options: object) -> Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, 4 * nodes))
    labels = rng.integers(-1, classes, nodes)
    labels[:classes] = np.arange(classes)
    return Graph.from_edges(*ends, labels=labels, **options)  # type: ignore[arg-type]


def dense_counts(graph: Graph) -> np.ndarray:
    one_hot = np.zeros((graph.num_nodes, graph.num_classes))
    for node, label in enumerate(graph.labels):
        if label >= 0:
            one_hot[node, label] = 1.0
    return graph.adjacency.toarray().astype(float) @ one_hot


def counted(graph: Graph) -> np.ndarray:
    return count_by_class(graph.adjacency, graph.labels, graph.num_classes)


@pytest.mark.parametrize("classes", [1, 2, 5, 40])
@pytest.mark.parametrize("direction", ["drop", "keep"])
@pytest.mark.parametrize("block", [1, 7, 2**20])
def test_counts_equal_the_dense_product(
    classes: int, direction: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    graph = random_graph(classes, classes=classes, direction=direction, self_loops="keep")
    np.testing.assert_array_equal(counted(graph), dense_counts(graph))


def test_a_hub_that_fills_its_field_of_bits_does_not_spill_into_the_next_class() -> None:
    leaves = 2**9 - 1  # the largest degree with 9 bits
    labels = np.full(leaves + 1, 2)
    labels[:2] = [0, 1]
    graph = Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), labels=labels)
    assert counted(graph)[0].tolist() == [0.0, 1.0, leaves - 1.0]
