"""How many neighbours of each class every node has: the one pass over the edges that the label
metrics share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.neighbour_classes import count_by_class


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Labels, and the number (or weight) of labelled neighbours by class.

    Unlabelled nodes have an empty row in ``one_hot`` and are counted nowhere: an edge enters
    only when both its ends are labelled. In a directed graph neighbours are out-neighbours.
    A loop stored in the graph makes the node its own neighbour, once.
    """

    labels: NDArray[np.int64]  # (N,), -1 = unlabelled
    one_hot: sp.csr_array  # (N, C), the paper's Z
    neighbours: NDArray[np.float64]  # (N, C), A Z
    loops: NDArray[np.float64]  # (N,), the diagonal of A
    is_directed: bool

    @property
    def num_classes(self) -> int:
        """Number of classes C of the graph, those without a labelled node included."""
        return int(self.neighbours.shape[1])

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Mask (N,) of the labelled nodes."""
        return np.asarray(self.labels >= 0)

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of labelled nodes of each class, (C,)."""
        return np.bincount(self.labels[self.is_labelled], minlength=self.num_classes)

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
    def class_pairs(self) -> NDArray[np.float64]:
        """Edges from class k to class l, (C, C): Zᵀ A Z. An undirected edge counts both ways."""
        return np.asarray(self.one_hot.T @ self.neighbours)

    @cached_property
    def edge_ends(self) -> NDArray[np.float64]:
        """Class pairs in which a loop of an undirected graph counts both ways too, (C, C).

        Its share on the diagonal is the share of edges, each counted once.
        """
        if self.is_directed or not self.loops.any():
            return self.class_pairs
        return self.class_pairs + np.diag(np.asarray(self.one_hot.T @ self.loops))


_CACHE: WeakKeyDictionary[Graph, LabelCounts] = WeakKeyDictionary()


def label_counts(graph: Graph) -> LabelCounts:
    """Count the neighbours of a graph by class; counted once for each graph value.

    >>> label_counts(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])).neighbours
    array([[1., 0.],
           [1., 1.],
           [1., 0.]])
    """
    counts = _CACHE.get(graph)
    if counts is None:
        one_hot = one_hot_labels(graph.labels, graph.num_classes)
        if graph.is_weighted:
            neighbours = np.asarray(graph.adjacency @ one_hot.toarray(), dtype=np.float64)
        else:
            neighbours = count_by_class(graph.adjacency, graph.labels, graph.num_classes)
        loops = graph.adjacency.diagonal().astype(np.float64)
        counts = LabelCounts(graph.labels, one_hot, neighbours, loops, graph.is_directed)
        _CACHE[graph] = counts
    return counts


def one_hot_labels(
    labels: NDArray[np.int64], num_classes: int, *, nodes: NDArray[np.bool_] | None = None
) -> sp.csr_array:
    """Return the label matrix Z as CSR, (N, C), with empty rows for -1 and outside ``nodes``."""
    chosen = labels >= 0 if nodes is None else (labels >= 0) & nodes
    indptr = np.zeros(labels.size + 1, np.int64)
    np.cumsum(chosen, out=indptr[1:])
    columns = labels[chosen]
    return sp.csr_array((np.ones(columns.size), columns, indptr), (labels.size, num_classes))


def need_labels(graph: Graph, metric: str, *, classes: int = 1) -> None:
    """Refuse a graph with fewer labelled classes than a metric needs."""
    present = np.count_nonzero(np.bincount(graph.labels + 1)[1:])
    if present == 0:
        raise InputError(f"{metric} of {graph.name!r} is undefined: no node has a label")
    if present < classes:
        raise InputError(
            f"{metric} of {graph.name!r} is undefined: it compares classes, and every labelled "
            "node has the same class"
        )


def need_edges(counts: LabelCounts, graph: Graph, metric: str) -> None:
    """Refuse a graph in which no edge joins two labelled nodes."""
    if not counts.class_pairs.any():
        why = "it has no edge" if graph.adjacency.nnz == 0 else "no edge joins two labelled nodes"
        raise InputError(f"{metric} of {graph.name!r} is undefined: {why}")
