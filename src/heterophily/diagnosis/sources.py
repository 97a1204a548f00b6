"""Sources of information about a node: its own features, its neighbours' features, its place in
the graph, and its neighbours' labels, each as columns for a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.diagnosis.compress import (
    MAX_ENTRIES,
    compress,
    leading_directions,
    scale_features,
)
from heterophily.filters.normalization import degrees

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

FEATURE_COLUMNS = 128
STRUCTURE_COLUMNS = 64
MAX_SKETCHED, QUICK_SKETCHED = 20_000_000, 2_000_000  # edges that the sketch of A looks at
BALL = 20_000  # nodes around a hub in which an odd cycle is looked for first
_PANEL = 16  # columns that are aggregated at a time
SECRET = 0x68657465726F  # the stream of sketches and folds: never that of the labels


@dataclass(frozen=True, eq=False)
class NeighbourMean:
    """The mean over neighbours, D⁻¹A, and what the probe needs of it for a sample of nodes."""

    adjacency: sp.csr_array
    degree: Floats  # (N,)
    is_symmetric: bool

    @classmethod
    def of(cls, graph: Graph) -> NeighbourMean:
        """Take the edges of a graph without loops: a node is no neighbour of itself."""
        adjacency = graph.adjacency
        if adjacency.diagonal().any():
            adjacency = sp.csr_array(adjacency - sp.diags_array(adjacency.diagonal()))
            adjacency.eliminate_zeros()
        return cls(adjacency, degrees(adjacency), not graph.is_directed)

    def mean(self, signal: Any, rows: Nodes | None = None) -> Any:
        """Return the mean of a signal (N, K) over neighbours, for all nodes or some; 0 for none."""
        matrix = self.adjacency if rows is None else self.adjacency[rows]
        degree = self.degree if rows is None else self.degree[rows]
        inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
        return np.asarray(matrix @ signal) * inverse[:, None].astype(signal.dtype)

    def returning(self, rows: Nodes) -> Floats:
        """Return how likely two random steps lead back to where they began, (n,)."""
        there = self.adjacency[rows]
        back = there if self.is_symmetric else sp.csr_array(self.adjacency.T)[rows]
        inverse = np.divide(1.0, self.degree, out=np.zeros_like(self.degree), where=self.degree > 0)
        both = sp.csr_array(there.multiply(back)) @ inverse
        return np.asarray(both) * inverse[rows]


def own_signal(graph: Graph, *, seed: int) -> NDArray[np.float32]:
    """Return the features of all nodes as at most 128 scaled and centred columns, (N, D).

    Centred, as the mean over no neighbours is 0: then that is the average, not an outlier.
    """
    signal = compress(scale_features(graph.features), seed=seed, columns=FEATURE_COLUMNS)
    signal = signal - signal.mean(axis=0)
    return np.ascontiguousarray(signal, dtype=np.float32)


def neighbour_features(
    operator: NeighbourMean, signal: NDArray[np.float32], rows: Nodes
) -> tuple[Floats, Floats, Floats]:
    r"""Return ÂX, the mean over neighbours and the mean over neighbours of neighbours, each (n, D).

    :math:`\hat A X = (D + I)^{-1} (D M + X)` needs no further product. Of the way over two edges
    the part that leads back to the node is left out, as it holds the node's own features.
    """
    depth = signal.shape[1]
    one, two = np.empty((rows.size, depth)), np.empty((rows.size, depth))
    back = operator.returning(rows)[:, None]
    for start in range(0, depth, _PANEL):
        panel = slice(start, start + _PANEL)
        mean = operator.mean(signal[:, panel])
        one[:, panel] = mean[rows]
        two[:, panel] = operator.mean(mean, rows) - back * signal[rows, panel]
    two /= np.maximum(1.0 - back, 1e-3)
    two[back[:, 0] > 1 - 1e-3] = 0.0  # all ways lead back
    degree = operator.degree[rows][:, None]
    low = (degree * one + signal[rows]) / (degree + 1.0)
    return low, one, two


def structure(
    operator: NeighbourMean,
    rows: Nodes,
    *,
    seed: int,
    columns: int = STRUCTURE_COLUMNS,
    max_edges: int = MAX_SKETCHED,
) -> Floats:
    """Return which neighbours a node has and how many, (n, at most 64 + 4), label-free.

    The rows of :math:`D^{-1/2} A D^{-1/2}` on their leading singular directions; the logarithms of
    the degree and of the neighbours' mean degree; where the graph is bipartite, the side.
    """
    scaled = _scaled(operator)
    enough = max_edges * scaled.shape[0] // max(scaled.nnz, 1)  # rows
    directions = leading_directions(
        scaled,
        min(columns, max(MAX_ENTRIES // (2 * scaled.shape[0]), 8)),
        seed=seed,
        max_rows=max(enough, 1),
        is_symmetric=operator.is_symmetric,
    )
    sketch = np.asarray(scaled[rows] @ directions.T, dtype=np.float64)
    size = np.sqrt(np.square(sketch).sum() / max(rows.size, 1))
    parts = [sketch / size if size > 0 else sketch]
    logarithm = np.log1p(operator.degree)
    counts = [logarithm, operator.mean(logarithm[:, None])[:, 0]]
    side = bipartite_side(operator.adjacency, is_symmetric=operator.is_symmetric)
    if side is not None:
        counts.append(side)
    parts.append(np.column_stack(counts)[rows])
    return np.hstack(parts)


def _scaled(operator: NeighbourMean) -> sp.csr_array:
    """Return D^-1/2 A D^-1/2; in a directed graph by the degrees of both ends."""
    matrix = operator.adjacency
    degree = operator.degree
    other = degree if operator.is_symmetric else degrees(sp.csr_array(matrix.T))
    left, right = (
        np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0).astype(np.float32)
        for d in (degree, other)
    )
    values = matrix.data.astype(np.float32) * np.repeat(left, np.diff(matrix.indptr))
    values *= right[matrix.indices]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def bipartite_side(adjacency: sp.csr_array, *, is_symmetric: bool = True) -> Floats | None:
    """Return the side of each node, (N,), when every edge joins two sides; else None.

    A component is bipartite when its double cover falls apart. Its larger side is 0; isolated
    nodes are on neither, 0.5.

    >>> bipartite_side(Graph.from_edges([0, 0], [1, 2]).adjacency)
    array([1., 0., 0.])
    """
    both = adjacency if is_symmetric else sp.csr_array(adjacency + adjacency.T)
    if not both.nnz:
        return None
    joined = np.diff(both.indptr) > 0
    if both.shape[0] > BALL:  # an odd cycle is mostly near: look there first
        start = int(np.diff(both.indptr).argmax())
        order = sp.csgraph.breadth_first_order(both, start, return_predecessors=False)[:BALL]
        if _sides(both[order][:, order]) is None:
            return None
    sides = _sides(both)
    if sides is None:
        return None
    here, there = sides
    sizes = np.bincount(here, minlength=max(here.max(), there.max()) + 1)
    smaller = (sizes[here] < sizes[there]) | ((sizes[here] == sizes[there]) & (here > there))
    return np.where(joined, smaller.astype(np.float64), 0.5)


def _sides(both: sp.csr_array) -> tuple[Nodes, Nodes] | None:
    """Return numbers of the node's side and of the other side, (N,) each; None: an odd cycle."""
    number = both.shape[0]
    cover = sp.block_array([[None, both], [both, None]], format="csr")
    _, found = sp.csgraph.connected_components(cover, directed=False)
    here, there = found[:number].astype(np.int64), found[number:].astype(np.int64)
    return None if (here == there)[np.diff(both.indptr) > 0].any() else (here, there)
