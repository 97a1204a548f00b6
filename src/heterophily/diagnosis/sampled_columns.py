"""The columns of the probe for a graph beyond memory: a sample with exact neighbourhoods."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.diagnosis.compress import MAX_ENTRIES, WORDS_DENSITY, leading_directions
from heterophily.diagnosis.probe_columns import Floats, Nodes, ProbeColumns, projected_note
from heterophily.diagnosis.sources import FEATURE_COLUMNS, STRUCTURE_COLUMNS
from heterophily.filters.neighbour_labels import NeighbourLabels

SKETCHED = 2_000_000
"""Edges that are looked at for the sketch of which neighbours a node has."""

SampledEdges = tuple[Nodes, NDArray[Any], Floats, Floats]


class Sample(Protocol):
    """Some nodes, and what whoever holds the graph knows about their neighbourhoods."""

    size: int
    labels: Nodes
    degree: Floats

    @property
    def edges(self) -> SampledEdges:
        """Edges of the sample: position, id of the neighbour, its degrees, out and in."""
        ...

    def more_edges(self, count: int, *, seed: int) -> SampledEdges:
        """Return the edges of ``count`` other nodes."""
        ...

    def returning(self) -> Floats:
        """Return how likely two random steps lead back to where they began, (n,)."""
        ...

    def label_counts(self, fold: Nodes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return neighbours by class one and two edges away, (folds + 1, n, C) each."""
        ...


class Signal(Protocol):
    """Features scaled, centred and projected to D columns, for a sample and around it."""

    width: int

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return own features, the mean over neighbours, and two edges away, (n, D) each."""
        ...

    def of_neighbours(self) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the ids of all neighbours of the sample, in order, and their features (M, D)."""
        ...


class SampledColumns(ProbeColumns):
    """The columns of a sample whose neighbourhoods were aggregated where the graph is."""

    sample: Sample
    num_nodes: int
    mean_degree: float
    signal: Signal | None = None

    @abstractmethod
    def _signal(self) -> Signal | None:
        """Return the features; None where there are none that differ from zero."""

    def _blocks(self) -> dict[str, Floats]:
        blocks: dict[str, Floats] = {}
        self.signal = self._signal()
        if self.signal is not None:
            own, mean, two = self.signal.means()
            back, degree = self.sample.returning()[:, None], self.sample.degree[:, None]
            two = (two - back * own) / np.maximum(1.0 - back, 1e-3)
            two[back[:, 0] > 1 - 1e-3] = 0.0  # all ways lead back
            low = (degree * mean + own) / (degree + 1.0)
            blocks |= {"own": own, "average": low, "mean": mean, "two": two}
            if self.signal.width > own.shape[1]:
                self.notes.append(projected_note(self.signal.width, own.shape[1]))
        blocks["structure"] = self._structure()
        return blocks

    def _structure(self) -> Floats:
        """Return which neighbours a node has and how many, (n, at most 64 + 2), label-free.

        As in memory, but the singular directions are those of some rows: the sample and as many
        others as have about two million edges; and no side of a bipartite graph.
        """
        sample = self.sample
        at, ids, degree, right = sample.edges
        more = int((SKETCHED - at.size) / max(self.mean_degree, 1.0))
        parts = [(at, ids, right, sample.degree)]
        if more > 0 and sample.size < self.num_nodes:
            rows, others, _, into = sample.more_edges(more, seed=self.seed + 1)
            parts.append((rows, others, into, np.bincount(rows).astype(np.float64)))
        columns, width = numbered(*(part[1] for part in parts))
        matrices = []
        for (rows, _, into, own), column in zip(parts, columns, strict=True):
            matrix = adjacency(rows, column, (own.size, max(width, 1)))
            scale = np.zeros(matrix.shape[1])
            scale[column] = 1.0 / np.sqrt(into)
            left = np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
            matrices.append(sp.csr_array(sp.diags_array(left) @ matrix @ sp.diags_array(scale)))
        stacked = sp.csr_array(sp.vstack(matrices))
        most = min(STRUCTURE_COLUMNS, max(MAX_ENTRIES // (2 * stacked.shape[1]), 8))
        directions = leading_directions(stacked, most, seed=self.sketch, max_rows=stacked.shape[0])
        used = np.unique(matrices[0].indices)  # few of the columns: those of the sample
        sketch = np.asarray(matrices[0][:, used] @ directions.T[used], dtype=np.float64)
        size = np.sqrt(np.square(sketch).sum() / max(sample.size, 1))
        logarithm = np.bincount(at, np.log1p(degree), minlength=sample.size)
        around = logarithm / np.maximum(sample.degree, 1.0)
        counts = np.column_stack([np.log1p(sample.degree), around])
        return np.hstack([sketch / size if size > 0 else sketch, counts])

    def _count(self, fold: Nodes) -> NeighbourLabels:
        return NeighbourLabels(*self.sample.label_counts(fold), fold)

    def near(self) -> tuple[sp.csr_array, NDArray[np.float32]]:
        """Return the edges from the sample to its M neighbours, (n, M), and their features."""
        assert self.signal is not None
        ids, signal = self.signal.of_neighbours()
        at, ends, _, _ = self.sample.edges
        place = np.searchsorted(ids, ends)
        return adjacency(at, place, (self.sample.size, ids.size)), signal


class LinearMap:
    """Scales, centre and directions of features, from sums over all nodes: as in memory.

    Parameters
    ----------
    scale
        Of each column, (F,).
    directions
        On which scaled rows are projected, (D, F); None: they stay as they are.
    mean
        Of each column over all nodes, (F,), which becomes the origin.
    """

    def __init__(self, scale: Floats, directions: Floats | None, mean: Floats) -> None:
        self.scale, self.directions, self.width = scale, directions, scale.size
        self.center: Floats = self.of(mean[None, :], range(self.width))

    def of(self, values: Floats, columns: range) -> Floats:
        """Return the part that some columns contribute to the projection, (n, D)."""
        scaled = values * self.scale[columns.start : columns.stop]
        if self.directions is None:
            out = np.zeros((values.shape[0], self.width))
            out[:, columns.start : columns.stop] = scaled
            return out
        return np.asarray(scaled @ self.directions[:, columns.start : columns.stop].T)

    def centred(
        self, sample: Sample, own: Floats, one: Floats, two: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the projected means with the origin moved.

        The mean over no neighbours is 0, which is the average.
        """
        has = (sample.degree > 0)[:, None]
        at, _, degree, _ = sample.edges
        found = np.bincount(at, degree > 0, minlength=sample.size)
        reached = (found / np.maximum(sample.degree, 1.0))[:, None]
        return (
            np.asarray(own - self.center),
            np.asarray(one - has * self.center),
            np.asarray(two - reached * self.center),
        )


def are_words(filled: NDArray[np.int64], smallest: Floats, num_nodes: int) -> bool:
    """Whether features are sparse and nowhere negative, and so are scaled by rows."""
    share = filled.sum() / max(num_nodes * filled.size, 1)
    return bool(share < WORDS_DENSITY and smallest.min() >= 0)


def column_scale(mean: Floats, square: Floats) -> Floats:
    """Return the factors that give columns the standard deviation 1; 0 for a constant one."""
    variance = square - mean**2
    deviation = np.sqrt(np.where(variance > 1e-12 * square, variance, 0.0))
    return np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)


def directions_of(rows: Floats, *, seed: int) -> Floats | None:
    """Return the directions on which wide features are projected; None for narrow ones."""
    if rows.shape[1] <= FEATURE_COLUMNS:
        return None
    return np.asarray(leading_directions(rows, FEATURE_COLUMNS, seed=seed))


def numbered(*ids: NDArray[Any]) -> tuple[list[Nodes], int]:
    """Return ids as numbers 0, 1, ... in their order, and how many there are."""
    every, numbers = np.unique(np.concatenate(ids), return_inverse=True)
    cuts = np.cumsum([part.size for part in ids])[:-1]
    return [part.astype(np.int64) for part in np.split(numbers, cuts)], int(every.size)


def adjacency(rows: Nodes, columns: Nodes, shape: tuple[int, int]) -> sp.csr_array:
    """Return edges as a matrix of ones."""
    return sp.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
