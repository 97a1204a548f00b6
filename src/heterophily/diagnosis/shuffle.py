"""Is it more than chance? Metrics of labelled edges beside the same after shuffling the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.diagnosis.sources import SECRET

Nodes = NDArray[np.int64]
Floats = NDArray[np.float64]

SHUFFLES = 200
MAX_EDGES = 50_000  # labelled edges that are looked at; more are drawn at random


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A metric of the edges between labelled nodes, and how it compares with shuffled labels.

    ``corrected`` is (value - null) / (1 - null), with null its mean over shuffles: 0 is chance, 1
    the largest value. ``spread`` is the standard deviation of the corrected value over shuffles,
    ``p_value`` the share of shuffles that reach the value.
    """

    value: float
    corrected: float
    spread: float
    p_value: float

    def is_real(self, least: float) -> bool:
        """Whether the corrected value is at least ``least``, and not by chance (p < 0.05)."""
        return self.corrected >= least and self.p_value < 0.05


@dataclass(frozen=True, slots=True)
class EdgeChance:
    """Adjusted homophily and label informativeness of labelled edges, corrected for chance.

    ``homophily_error`` is the standard error of adjusted homophily, as a share of so many edges.
    """

    edges: int  # between labelled nodes
    homophily: Shuffled
    homophily_error: float
    informativeness: Shuffled


def edge_chance(graph: Graph, *, seed: int = 0) -> EdgeChance | None:
    """Compare the labels at both ends of edges with 200 shuffles of the labels among the nodes.

    With few labels or many classes, label informativeness is far above 0 on random edges; the
    shuffles show by how much. None when no edge joins two labelled nodes, or one class is there.
    """
    source, target = _labelled_edges(graph)
    rng = np.random.default_rng([SECRET, seed, 1])
    if not source.size or np.unique(graph.labels[graph.is_labelled]).size < 2:
        return None
    count = source.size
    if count > MAX_EDGES:
        chosen = rng.choice(count, MAX_EDGES, replace=False)
        source, target = source[chosen], target[chosen]
        nodes = np.unique(np.concatenate([source, target]))
    else:
        nodes = np.flatnonzero(graph.is_labelled)
    labels = graph.labels[nodes]
    place = np.zeros(graph.num_nodes, np.int64)
    place[nodes] = np.arange(nodes.size)
    ends = place[source], place[target]
    return chance_of(ends, labels, count, is_directed=graph.is_directed, rng=rng)


def chance_of(
    ends: tuple[Nodes, Nodes],
    labels: Nodes,
    count: int,
    *,
    is_directed: bool,
    rng: np.random.Generator,
) -> EdgeChance:
    """Compare edges between nodes, whose labels are shuffled; ``count`` is how many there are in
    all, of which ``ends`` may be some.
    """
    classes = np.unique(labels)
    labels = np.searchsorted(classes, labels)
    seen = _both(labels, ends, classes.size, is_directed)
    null = np.array(
        [_both(rng.permutation(labels), ends, classes.size, is_directed) for _ in range(SHUFFLES)]
    )
    homophily, tells = (shuffled(seen[k], null[:, k]) for k in range(2))
    share, expected = seen[2], seen[3]
    error = np.sqrt(max(share * (1 - share), 1 / count) / count) / max(1.0 - expected, 1e-12)
    return EdgeChance(count, homophily, float(error), tells)


def _labelled_edges(graph: Graph) -> tuple[Nodes, Nodes]:
    """Return the ends of edges between labelled nodes; an undirected edge once, no loops."""
    known = graph.is_labelled
    matrix = sp.coo_array(graph.adjacency)
    keep = known[matrix.row] & known[matrix.col] & (matrix.row != matrix.col)
    if not graph.is_directed:
        keep &= matrix.row < matrix.col
    return matrix.row[keep].astype(np.int64), matrix.col[keep].astype(np.int64)


def _both(
    labels: Nodes, ends: tuple[Nodes, Nodes], num_classes: int, is_directed: bool
) -> tuple[float, float, float, float]:
    """Return adjusted homophily and label informativeness; edge homophily, and that of chance."""
    flat = np.bincount(labels[ends[0]] * num_classes + labels[ends[1]], minlength=num_classes**2)
    pairs = flat.reshape(num_classes, num_classes).astype(np.float64)
    if not is_directed:
        pairs = pairs + pairs.T
    pairs /= pairs.sum()
    first, second = pairs.sum(axis=1), pairs.sum(axis=0)
    expected = float(first @ second)
    adjusted = (float(np.trace(pairs)) - expected) / max(1.0 - expected, 1e-12)
    return adjusted, informativeness(pairs), float(np.trace(pairs)), expected


def informativeness(pairs: Floats) -> float:
    """Return the share of the uncertainty of the row that the column of a table removes."""
    total = float(pairs.sum())
    if total <= 0:
        return 0.0
    shares = pairs / total
    entropy = _entropy(shares.sum(axis=1))
    mutual = entropy + _entropy(shares.sum(axis=0)) - _entropy(shares.ravel())
    return mutual / entropy if entropy > 0 else 0.0


def _entropy(shares: Floats) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def shuffled(value: float, null: Floats) -> Shuffled:
    """Compare a value with its values after shuffles."""
    middle = float(null.mean())
    corrected = (value - middle) / max(1.0 - middle, 1e-12)
    reached = int((null >= value - 1e-12).sum())
    spread = float(null.std()) / max(1.0 - middle, 1e-12)
    return Shuffled(value, corrected, spread, (1 + reached) / (1 + null.size))
