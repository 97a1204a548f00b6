"""A small graph, and a recipe that takes a moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from heterophily.data.graph import Graph

QUICK: dict[str, Any] = {
    "max_trials": 3,
    "seeds": 2,
    "workers": 1,
    "engine": "torch",
    "config": {"max_epochs": 6},
    "clock": lambda: 0.0,  # no time passes: limits alone end the search
}


def make_graph(*, num_nodes: int = 60, with_features: bool = True, seed: int = 0) -> Graph:
    """Return three classes with noisy features and random edges."""
    rng = np.random.default_rng(seed)
    labels = np.arange(num_nodes) % 3
    features = np.eye(3)[labels] + rng.random((num_nodes, 3)) * 1.5
    source, target = rng.integers(0, num_nodes, (2, 3 * num_nodes))
    return Graph.from_edges(
        source,
        target,
        labels=labels,
        features=features if with_features else None,
        class_names=("red", "green", "blue"),
        node_ids=[f"v{i}" for i in range(num_nodes)],
        name="small",
    )


def reordered(graph, order):
    return Graph(
        adjacency=graph.adjacency[order][:, order],
        features=graph.features[order],
        labels=graph.labels[order],
        class_names=graph.class_names,
        node_ids=graph.node_ids[order],
        name="reordered",
    )


def with_new_nodes(graph, count=3):
    """The same graph and a path of new nodes that hangs on node 0."""
    source, target = graph.adjacency.nonzero()
    new = np.arange(graph.num_nodes, graph.num_nodes + count)
    return Graph.from_edges(
        np.concatenate([source, [0], new[:-1]]),
        np.concatenate([target, new]),
        features=np.concatenate([graph.features, np.eye(3)[np.arange(count) % 3]]),
        labels=np.concatenate([graph.labels, np.full(count, -1)]),
        class_names=graph.class_names,
        name="larger",
    )
