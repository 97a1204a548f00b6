"""How many neighbours of each class every node has: the one pass over the edges that the label
metrics share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import overload
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError
from heterophily.filters.normalization import degrees
from heterophily.metrics.neighbour_classes import count_by_class, count_threads
from heterophily.metrics.statistics import LabelStatistics
from heterophily.native.edges import EdgeTotals, NeighbourSums, edge_rows, edge_totals


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Labels, and the number (or weight) of labelled neighbours by class.

    Unlabelled nodes have an empty row in ``one_hot`` and are counted nowhere: an edge enters
    only when both its ends are labelled. In a directed graph neighbours are out-neighbours.
    A loop stored in the graph makes the node its own neighbour, once.

    Counted on first use, by the native library where there is one and by SciPy elsewhere; counts
    are the same, sums of weights agree to rounding.
    """

    labels: NDArray[np.int64]  # (N,), -1 = unlabelled
    num_classes: int  # those without a labelled node included
    adjacency: sp.csr_array
    is_directed: bool

    @cached_property
    def rows(self) -> NeighbourSums:
        """Sums over the edges of each node."""
        given = (self.adjacency, self.labels, self.num_classes)
        return edge_rows(*given, threads=count_threads(self.adjacency.nnz)) or scipy_rows(*given)

    @cached_property
    def totals(self) -> EdgeTotals:
        """Sums over all edges, by class."""
        given = (self.adjacency, self.labels, self.num_classes)
        native = edge_totals(*given, threads=count_threads(self.adjacency.nnz))
        return native or scipy_totals(*given, neighbours=self.neighbours)

    @property
    def neighbours(self) -> NDArray[np.float64]:
        """Neighbours by class, (N, C): A Z."""
        return self.rows.neighbours

    @property
    def class_pairs(self) -> NDArray[np.float64]:
        """Edges from class k to class l, (C, C): Zᵀ A Z. An undirected edge counts both ways."""
        return self.totals.class_pairs

    @cached_property
    def one_hot(self) -> sp.csr_array:
        """The paper's Z, (N, C)."""
        return one_hot_labels(self.labels, self.num_classes)

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Mask (N,) of the labelled nodes."""
        return np.asarray(self.labels >= 0)

    @cached_property
    def own_class(self) -> NDArray[np.float64]:
        """Neighbours of the node's own class, (N,); 0 for an unlabelled node."""
        if self.num_classes == 0:
            return np.zeros(self.labels.size)
        rows = np.arange(self.labels.size)
        return np.where(self.is_labelled, self.neighbours[rows, self.labels], 0.0)

    @cached_property
    def any_class(self) -> NDArray[np.float64]:
        """Labelled neighbours, (N,)."""
        return self.neighbours @ np.ones(self.num_classes)

    @cached_property
    def edge_ends(self) -> NDArray[np.float64]:
        """Class pairs in which a loop of an undirected graph counts both ways too, (C, C).

        Its share on the diagonal is the share of edges, each counted once.
        """
        if self.is_directed:
            return self.class_pairs
        return self.class_pairs + np.diag(self.totals.class_loops)


_CACHE: WeakKeyDictionary[Graph, LabelCounts] = WeakKeyDictionary()
_SIZES: WeakKeyDictionary[Graph, NDArray[np.int64]] = WeakKeyDictionary()
_LOCK = Lock()  # of the two dictionaries


@overload
def label_counts(graph: Graph) -> LabelCounts: ...
@overload
def label_counts(graph: LabelStatistics) -> LabelStatistics: ...
def label_counts(graph: Graph | LabelStatistics) -> LabelCounts | LabelStatistics:
    """Return the neighbours of a graph by class; counted once for each graph value.

    Statistics that a collector delivered are returned as they are.

    >>> label_counts(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])).neighbours
    array([[1., 0.],
           [1., 1.],
           [1., 0.]])
    """
    if isinstance(graph, LabelStatistics):
        return graph
    with _LOCK:
        counts = _CACHE.get(graph)
        if counts is None:  # cheap: what it counts, it counts when asked
            counts = LabelCounts(
                graph.labels, graph.num_classes, graph.adjacency, graph.is_directed
            )
            _CACHE[graph] = counts
    return counts


def scipy_rows(
    adjacency: sp.csr_array, labels: NDArray[np.int64], num_classes: int
) -> NeighbourSums:
    """Count with SciPy what :func:`~heterophily.native.edges.edge_rows` counts natively."""
    if (adjacency.data != 1).any():
        one_hot = one_hot_labels(labels, num_classes).toarray()
        neighbours = np.asarray(adjacency @ one_hot, dtype=np.float64)
    else:
        neighbours = count_by_class(adjacency, labels, num_classes)
    return NeighbourSums(neighbours, degrees(adjacency))


def scipy_totals(
    adjacency: sp.csr_array,
    labels: NDArray[np.int64],
    num_classes: int,
    *,
    neighbours: NDArray[np.float64],
) -> EdgeTotals:
    """Sum with SciPy what :func:`~heterophily.native.edges.edge_totals` sums natively."""
    one_hot = one_hot_labels(labels, num_classes)
    chosen = np.flatnonzero(labels >= 0)
    own = neighbours[chosen, labels[chosen]]
    known = neighbours[chosen] @ np.ones(num_classes)
    shares = own[known > 0] / known[known > 0]
    return EdgeTotals(
        class_pairs=np.asarray(one_hot.T @ neighbours),
        class_loops=np.asarray(one_hot.T @ adjacency.diagonal().astype(np.float64)),
        shares=np.array([shares.sum(), shares.size]),
    )


def class_sizes(graph: Graph | LabelStatistics) -> NDArray[np.int64]:
    """Return the number of labelled nodes of each class, (C,); counted once for each graph."""
    if isinstance(graph, LabelStatistics):
        return graph.sizes
    with _LOCK:
        sizes = _SIZES.get(graph)
    if sizes is None:
        sizes = np.bincount(graph.labels + 1, minlength=graph.num_classes + 1)[1:]
        with _LOCK:
            _SIZES[graph] = sizes
    return sizes


def one_hot_labels(
    labels: NDArray[np.int64], num_classes: int, *, nodes: NDArray[np.bool_] | None = None
) -> sp.csr_array:
    """Return the label matrix Z as CSR, (N, C), with empty rows for -1 and outside ``nodes``."""
    chosen = labels >= 0 if nodes is None else (labels >= 0) & nodes
    indptr = np.zeros(labels.size + 1, np.int64)
    np.cumsum(chosen, out=indptr[1:])
    columns = labels[chosen]
    return sp.csr_array((np.ones(columns.size), columns, indptr), (labels.size, num_classes))


def need_labels(graph: Graph | LabelStatistics, metric: str, *, classes: int = 1) -> None:
    """Refuse a graph with fewer labelled classes than a metric needs."""
    present = np.count_nonzero(class_sizes(graph))
    if present == 0:
        raise UndefinedError(f"{metric} of {graph.name!r}", "no node has a label")
    if present < classes:
        raise UndefinedError(
            f"{metric} of {graph.name!r}",
            "it compares classes, and every labelled node has the same class",
        )


def need_edges(
    counts: LabelCounts | LabelStatistics, graph: Graph | LabelStatistics, metric: str
) -> None:
    """Refuse a graph in which no edge joins two labelled nodes."""
    if not counts.class_pairs.any():
        why = "it has no edge" if graph.num_edges == 0 else "no edge joins two labelled nodes"
        raise UndefinedError(f"{metric} of {graph.name!r}", why)
