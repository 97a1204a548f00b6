"""The one pass over the edges."""

from __future__ import annotations

import gc

import numpy as np

from heterophily.data.graph import Graph
from heterophily.metrics import label_counts as module
from heterophily.metrics.label_counts import label_counts


def random_graph(seed: int, *, nodes: int = 60, classes: int = 4, **options: object) -> Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, 4 * nodes))
    labels = rng.integers(-1, classes, nodes)
    labels[:classes] = np.arange(classes)
    return Graph.from_edges(*ends, labels=labels, **options)  # type: ignore[arg-type]


def test_weights_are_summed() -> None:
    graph = Graph.from_edges([0, 0], [1, 2], weight=[0.5, 2.0], labels=[0, 1, 1])
    assert label_counts(graph).neighbours.tolist() == [[0.0, 2.5], [0.5, 0.0], [2.0, 0.0]]


def test_a_loop_counts_once_among_neighbours_and_both_ways_among_edge_ends() -> None:
    graph = Graph.from_edges([0, 0], [0, 1], labels=[0, 1], self_loops="keep")
    counts = label_counts(graph)
    assert counts.class_pairs.tolist() == [[1.0, 1.0], [1.0, 0.0]]
    assert counts.edge_ends.tolist() == [[2.0, 1.0], [1.0, 0.0]]


def test_counts_are_made_once_for_a_graph_and_go_away_with_it() -> None:
    graph = random_graph(0)
    assert label_counts(graph) is label_counts(graph)
    gc.collect()  # graphs of other tests that wait for it
    before = len(module._CACHE)
    del graph
    gc.collect()
    assert len(module._CACHE) == before - 1
