"""Graphs with a known answer, for the tests of the diagnosis."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph


def blobs(
    share: float,
    *,
    nodes: int = 300,
    classes: int = 2,
    edges: int = 1500,
    noise: float = 1.0,
    columns: int = 4,
    seed: int = 0,
    **fields,
) -> Graph:
    """Noisy features around a centre per class; an edge stays in its class with this chance."""
    rng = np.random.default_rng(seed)
    labels = np.arange(nodes) % classes
    centres = rng.normal(size=(classes, columns))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    features = centres[labels] + noise * rng.normal(size=(nodes, columns))
    source = rng.integers(0, nodes, edges)
    stays = rng.random(edges) < share
    other = (labels[source] + rng.integers(1, classes, edges)) % classes
    wanted = np.where(stays, labels[source], other)
    target = classes * rng.integers(0, nodes // classes, edges) + wanted
    keep = source != target
    return Graph.from_edges(
        source[keep],
        target[keep],
        num_nodes=nodes,
        labels=labels,
        features=features,
        name="blobs",
    ).replace(**fields)


def random_edges(
    labels: np.ndarray, *, edges: int, hubs: int = 0, seed: int = 0, features=None
) -> Graph:
    """Edges that know nothing of the labels; half of them at hubs, if there are any."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, labels.size, (2, edges))
    if hubs:
        ends[0, ::2] = rng.integers(0, hubs, ends[0, ::2].size)
    ends = ends[:, ends[0] != ends[1]]
    return Graph.from_edges(*ends, num_nodes=labels.size, labels=labels, features=features)


def dating(*, nodes: int = 300, column: bool, classes: int = 3, seed: int = 0) -> Graph:
    """Two sides: partners of class k are of class k + 1; a column, if any, knows nothing."""
    rng = np.random.default_rng(seed)
    half = nodes // 2
    labels = np.concatenate([np.arange(half) % classes, (np.arange(half) + 1) % classes])
    source = np.repeat(np.arange(half), 4)
    target = half + classes * rng.integers(0, half // classes, source.size) + labels[source]
    features = rng.normal(40, 10, size=(nodes, 1)) if column else None
    return Graph.from_edges(
        source, target, num_nodes=nodes, labels=labels, features=features, name="dating"
    )
