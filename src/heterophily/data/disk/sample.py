"""A sample of nodes of a graph on disk, with their whole neighbourhoods of two edges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskGraph, DiskPanel
from heterophily.data.disk.rows import entries_in_pieces, row_bounds, row_entries
from heterophily.data.disk.sparse import SparsePanel

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

PIECE = 1 << 20
"""Entries of rows that are looked at together."""

_BLOCK = 1 << 18  # rows of a panel that are read at a time


class DiskSample:
    """Some nodes of a graph on disk; what is aggregated over their neighbourhoods is exact.

    The rows of the sample are in memory; the rows of its neighbours are read in pieces, anew for
    each question, so that hubs do no harm.

    Parameters
    ----------
    graph
        The graph.
    nodes
        The sampled nodes, ascending, (n,).
    labels
        The classes of all nodes, (N,), -1 = unlabelled, of any signed integer type.
    """

    def __init__(self, graph: DiskGraph, nodes: Nodes, labels: NDArray[Any]) -> None:
        self.graph, self.nodes, self._labels = graph, nodes, labels
        self.size = nodes.size
        self.labels: Nodes = labels[nodes].astype(np.int64)
        count, self._ends = row_entries(graph.parts, nodes)
        self._positions = np.repeat(np.arange(self.size), count)
        self.degree: Floats = count.astype(np.float64)
        self.near_nodes: Nodes = np.unique(self._ends)
        _, self._near_count = row_bounds(graph.parts, self.near_nodes)

    @cached_property
    def near(self) -> sp.csr_array:
        """Edges from the sample to its M neighbours in :attr:`near_nodes`, (n, M), ones."""
        place = np.searchsorted(self.near_nodes, self._ends)
        ones = np.ones(place.size, np.float32)
        shape = (self.size, max(self.near_nodes.size, 1))
        return sp.csr_array((ones, (self._positions, place)), shape=shape)

    def around(self) -> Iterator[tuple[sp.csr_array, Nodes, Nodes]]:
        """Iterate over some of the neighbours w: steps there from the sample (n, some) over 1 /
        degree of w, the lengths of their rows, and the entries of those.
        """
        count = self._near_count
        columns = sp.csc_array(self.near)
        inverse = _inverse(count.astype(np.float64))
        for some, ends in entries_in_pieces(self.graph.parts, self.near_nodes, count, PIECE):
            steps = sp.csr_array(columns[:, some] @ sp.diags_array(inverse[some]))
            yield steps, count[some], ends

    # --- what the probe asks ---------------------------------------------------------------------

    @cached_property
    def edges(self) -> tuple[Nodes, Nodes, Floats, Floats]:
        """Edges of the sample: position, neighbour, and its degrees, of edges out and in."""
        return self._with_degrees(self._positions, self._ends)

    def more_edges(self, count: int, *, seed: int) -> tuple[Nodes, Nodes, Floats, Floats]:
        """Return the edges of ``count`` other nodes, labelled or not, as :attr:`edges` are."""
        rng = np.random.default_rng(seed)
        total = self.graph.num_nodes
        drawn = rng.choice(total, min(count, total), replace=False)
        others = np.setdiff1d(drawn, self.nodes)
        lengths, ends = row_entries(self.graph.parts, others)
        return self._with_degrees(np.repeat(np.arange(others.size), lengths), ends)

    def _with_degrees(self, at: Nodes, ends: Nodes) -> tuple[Nodes, Nodes, Floats, Floats]:
        known, place = np.unique(ends, return_inverse=True)
        out = row_bounds(self.graph.parts, known)[1].astype(np.float64)
        into = out
        if self.graph.is_directed:
            into = row_bounds(self.graph.reverse_parts, known)[1].astype(np.float64)
        return at, ends, out[place], into[place]

    def returning(self) -> Floats:
        """Return how likely two random steps lead back to where they began, (n,)."""
        found = np.zeros(self.size)
        for steps, count, ends in self.around():
            rows = np.repeat(np.arange(count.size), count)
            place = np.searchsorted(self.nodes, ends).clip(max=self.size - 1)
            home = self.nodes[place] == ends
            back = sp.csr_array(
                (np.ones(int(home.sum())), (place[home], rows[home])), shape=steps.shape
            )
            found += np.asarray(steps.multiply(back).sum(axis=1)).reshape(-1)
        return found * _inverse(self.degree)

    def label_counts(self, fold: Nodes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return neighbours by class one and two edges away, apart for each fold they are in.

        Two arrays (folds + 1, n, C), as :class:`~heterophily.filters.neighbour_labels` has them;
        the last entry holds the nodes outside the sample.
        """
        classes, folds = self.graph.num_classes, int(fold.max()) + 1
        width = (folds + 1) * classes
        one, two = np.zeros((2, self.size, width))
        kind, keep = self._kinds(self._ends, fold, folds)
        np.add.at(one, (self._positions[keep], kind), 1.0)
        for steps, count, ends in self.around():
            kind, keep = self._kinds(ends, fold, folds)
            rows = np.repeat(np.arange(count.size), count)[keep]
            seen = sp.csr_array((np.ones(kind.size), (rows, kind)), shape=(count.size, width))
            two += (steps @ seen).toarray()
        two *= _inverse(self.degree)[:, None]
        shape = (self.size, folds + 1, classes)
        found = [np.moveaxis(part.reshape(shape), 1, 0).astype(np.float32) for part in (one, two)]
        return found[0], found[1]

    def _kinds(self, ends: Nodes, fold: Nodes, folds: int) -> tuple[Nodes, NDArray[np.bool_]]:
        """Return fold and class of labelled neighbours as one number, and which are labelled."""
        label = self._labels[ends]
        keep = label >= 0
        place = np.searchsorted(self.nodes, ends).clip(max=self.size - 1)
        where = np.where(self.nodes[place] == ends, fold[place], folds)
        return (where * self.graph.num_classes + label.astype(np.int64))[keep], keep

    # --- features --------------------------------------------------------------------------------

    @cached_property
    def reached(self) -> Nodes:
        """The sample, its neighbours and their neighbours, ascending."""
        is_in = np.zeros(self.graph.num_nodes, np.bool_)
        is_in[self.nodes] = is_in[self.near_nodes] = True
        for _, _, ends in self.around():
            is_in[ends] = True
        return np.flatnonzero(is_in)

    def means(
        self, panel: DiskPanel | SparsePanel, factor: NDArray[np.float32] | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Return the columns of a panel for the sample, their mean over neighbours and over the
        neighbours of neighbours, (n, width) each; with ``factor`` (N,) every row times its own.
        """
        ids = self.reached
        values = gathered(panel, ids)
        if factor is not None:
            values *= factor[ids, None]
        own = values[np.searchsorted(ids, self.nodes)]
        one = self.near[:, : self.near_nodes.size] @ values[np.searchsorted(ids, self.near_nodes)]
        two = np.zeros(own.shape)
        for steps, count, ends in self.around():
            indptr = np.concatenate([[0], np.cumsum(count)])
            rows = sp.csr_array(
                (np.ones(ends.size, np.float32), np.searchsorted(ids, ends), indptr),
                shape=(count.size, ids.size),
            )
            two += steps @ (rows @ values)
        inverse = _inverse(self.degree)[:, None]
        return own.astype(np.float64), one * inverse, two * inverse


def gathered(panel: DiskPanel | SparsePanel, nodes: Nodes) -> NDArray[np.float32]:
    """Return the rows of some nodes, ascending, as float32; the file is read front to back."""
    found = np.empty((nodes.size, panel.width), np.float32)
    first = 0
    while first < nodes.size:
        begin = int(nodes[first])
        last = int(np.searchsorted(nodes, begin + _BLOCK))
        block = panel.read_rows(begin, int(nodes[last - 1]) + 1)
        found[first:last] = block[nodes[first:last] - begin]
        first = last
    return found


def _inverse(degree: Floats) -> Floats:
    return np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
