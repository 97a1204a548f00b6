"""A small graph with fixed splits, and a space that trains in a moment."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch, random_splits
from heterophily.search.space import Space

QUICK = Space("quick", {"lr": (0.001, 0.05, 0.2), "max_epochs": (12,), "hidden": (8,)})


def small_graph(*, seed: int = 0, name: str = "small", splits: SplitBatch | None = None) -> Graph:
    """Return 60 nodes in 3 classes with noisy features and random edges."""
    rng = np.random.default_rng(seed)
    labels = np.arange(60) % 3
    features = np.eye(3)[labels] + rng.random((60, 3)) * 1.5
    source, target = rng.integers(0, 60, (2, 150))
    return Graph.from_edges(
        source,
        target,
        labels=labels,
        features=features,
        name=name,
        splits=splits or random_splits(labels, repeats=4, seed=7),
    )
