"""The columns of the probe from tables in an engine: a sample with exact neighbourhoods."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.warehouse.features import SAMPLED, EngineFeatures
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.data.warehouse.sample import NodeSample, adjacency, numbered
from heterophily.diagnosis.compress import MAX_ENTRIES, WORDS_DENSITY, leading_directions
from heterophily.diagnosis.probe_columns import (
    QUICK_NODES,
    Floats,
    Nodes,
    ProbeColumns,
    drawn_note,
    projected_note,
)
from heterophily.diagnosis.sources import FEATURE_COLUMNS, SECRET, STRUCTURE_COLUMNS
from heterophily.evaluation.scores import score_for
from heterophily.filters.neighbour_labels import NeighbourLabels

SKETCHED = 2_000_000
"""Edges that travel for the sketch of which neighbours a node has."""


class EngineColumns(ProbeColumns):
    """The columns of a graph in an engine, which aggregates the neighbourhoods of a sample.

    Parameters
    ----------
    graph
        The tables.
    sizes
        Labelled nodes of each class, (C,).
    features
        The encoded features, if there are any.
    seed, quick, max_nodes
        As for :class:`~heterophily.diagnosis.probe_columns.GraphColumns`.
    """

    def __init__(
        self,
        graph: WarehouseGraph,
        sizes: Nodes,
        features: EngineFeatures | None,
        seed: int,
        quick: bool,
        max_nodes: int,
    ) -> None:
        self.graph, self.features = graph, features
        labelled, notes = int(sizes.sum()), list[str]()
        limit = min(max_nodes, QUICK_NODES) if quick else max_nodes
        score = score_for(np.repeat(np.arange(sizes.size), _thinned(sizes)))
        rare = None
        if labelled > limit:
            notes.append(drawn_note(limit, labelled))
            if score == "roc-auc":  # as in memory: a quarter of the nodes is of the rare class
                smallest = int(np.flatnonzero(sizes == sizes[sizes > 0].min())[0])
                wanted = max(limit // 4, limit * int(sizes[smallest]) // labelled)
                rare = smallest, min(wanted, int(sizes[smallest]))
        self.sample = NodeSample(graph, limit, seed=seed, rare=rare)
        notes.append(f"the neighbourhoods of these nodes were aggregated by {graph.where}, exactly")
        super().__init__(
            self.sample.labels,
            num_classes=graph.num_classes,
            present=np.flatnonzero(sizes),
            score=score,
            seed=seed,
            quick=quick,
            rng=np.random.default_rng([SECRET, seed]),
            notes=notes,
        )

    def _blocks(self) -> dict[str, Floats]:
        blocks: dict[str, Floats] = {}
        if self.features is not None and self.features.sums.filled.any():
            self.projection = Projection.of(self.features, seed=self.sketch)
            own, mean, two = self.projection.means(self.sample)
            back, degree = self.sample.returning()[:, None], self.sample.degree[:, None]
            two = (two - back * own) / np.maximum(1.0 - back, 1e-3)
            two[back[:, 0] > 1 - 1e-3] = 0.0  # all ways lead back
            low = (degree * mean + own) / (degree + 1.0)
            blocks |= {"own": own, "average": low, "mean": mean, "two": two}
            if self.features.width > own.shape[1]:
                self.notes.append(projected_note(self.features.width, own.shape[1]))
        blocks["structure"] = self._structure()
        return blocks

    def _structure(self) -> Floats:
        """Return which neighbours a node has and how many, (n, at most 64 + 2), label-free.

        As in memory, but the singular directions are those of some rows: the sample and as many
        others as have about two million edges; and no side of a bipartite graph.
        """
        sample = self.sample
        at, ids, degree, right = sample.edges
        mean_degree = max(2 * self.graph.num_edges / max(self.graph.num_nodes, 1), 1.0)
        more = int((SKETCHED - at.size) / mean_degree)
        parts = [(at, ids, right, sample.degree)]
        if more > 0 and sample.size < self.graph.num_nodes:
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
        sketch = np.asarray(matrices[0] @ directions.T, dtype=np.float64)
        size = np.sqrt(np.square(sketch).sum() / max(sample.size, 1))
        logarithm = np.bincount(at, np.log1p(degree), minlength=sample.size)
        around = logarithm / np.maximum(sample.degree, 1.0)
        counts = np.column_stack([np.log1p(sample.degree), around])
        return np.hstack([sketch / size if size > 0 else sketch, counts])

    def _count(self, fold: Nodes) -> NeighbourLabels:
        return NeighbourLabels(*self.sample.label_counts(fold), fold)

    def near(self) -> tuple[sp.csr_array, NDArray[np.float32]]:
        """Return the edges from the sample to its M neighbours, (n, M), and their features."""
        ids, signal = self.projection.of_neighbours(self.sample)
        at, ends, _, _ = self.sample.edges
        place = np.searchsorted(ids, ends)
        return adjacency(at, place, (self.sample.size, ids.size)), signal


def _thinned(sizes: Nodes) -> Nodes:
    """Return class sizes of the same proportions that add up to some hundred thousand at most."""
    scale = max(1.0, float(sizes.sum()) / 100_000)
    return np.ceil(sizes / scale).astype(np.int64)


class Projection:
    """Features scaled, centred and projected to at most 128 columns, as in memory.

    All of it is linear but the length of rows, which the engine divides by: so the engine averages
    features, and the averages are projected here.
    """

    def __init__(
        self, features: EngineFeatures, scale: Floats, directions: Floats | None, center: Floats
    ) -> None:
        self.features, self.scale, self.directions, self.center = (
            features, scale, directions, center,
        )  # fmt: skip

    @classmethod
    def of(cls, features: EngineFeatures, *, seed: int) -> Projection:
        """Look at sums over all nodes, and at some rows where there are many columns."""
        sums = features.sums
        share = sums.filled.sum() / max(features.graph.num_nodes * features.width, 1)
        scale = np.ones(features.width)
        if share < WORDS_DENSITY and sums.smallest.min() >= 0:
            features = features.with_unit_rows()
            mean = features.sums.mean
        else:
            variance = sums.square - sums.mean**2
            noise = 1e-12 * sums.square
            deviation = np.sqrt(np.where(variance > noise, variance, 0.0))
            scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
            mean = sums.mean
        directions = None
        if features.width > FEATURE_COLUMNS:
            rows = features.sample(SAMPLED, seed=seed) * scale
            directions = np.asarray(leading_directions(rows, FEATURE_COLUMNS, seed=seed))
        found = cls(features, scale, directions, np.zeros(1))
        found.center = found.project(mean[None, :], range(features.width))
        return found

    def project(self, values: Floats, columns: range) -> Floats:
        """Return the part that some columns contribute to the projection, (n, D)."""
        scaled = values * self.scale[columns.start : columns.stop]
        if self.directions is None:
            out = np.zeros((values.shape[0], self.features.width))
            out[:, columns.start : columns.stop] = scaled
            return out
        return np.asarray(scaled @ self.directions[:, columns.start : columns.stop].T)

    def means(self, sample: NodeSample) -> tuple[Floats, Floats, Floats]:
        """Return own features, the mean over neighbours, and two edges away, (n, D) each.

        The mean over no neighbours is 0, which is the average.
        """
        own, one, two = (np.zeros((1, 1)) for _ in range(3))
        at = 0
        for names in self.features.chunks():
            columns = range(at, at + len(names))
            found = [self.project(part, columns) for part in sample.means(self.features, names)]
            own, one, two = own + found[0], one + found[1], two + found[2]
            at += len(names)
        has = (sample.degree > 0)[:, None]
        reached = self._reached(sample)[:, None]
        return (
            np.asarray(own - self.center),
            np.asarray(one - has * self.center),
            np.asarray(two - reached * self.center),
        )

    def _reached(self, sample: NodeSample) -> Floats:
        """Return the share of neighbours that have neighbours themselves, (n,)."""
        at, _, degree, _ = sample.edges
        found = np.bincount(at, degree > 0, minlength=sample.size)
        return np.asarray(found / np.maximum(sample.degree, 1.0))

    def of_neighbours(self, sample: NodeSample) -> tuple[NDArray[np.generic], NDArray[np.float32]]:
        """Return the ids of all neighbours of the sample, in order, and their features (M, D)."""
        signal, ids, at = np.zeros((1, 1)), np.zeros(0), 0
        for names in self.features.chunks():
            ids, values = sample.neighbour_rows(self.features, names)
            signal = signal + self.project(values, range(at, at + len(names)))
            at += len(names)
        return ids, (signal - self.center).astype(np.float32)
