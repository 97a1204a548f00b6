"""The columns of the probe from a graph on disk, whose rows are read where they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.sample import DiskSample, gathered
from heterophily.diagnosis.compress import BASIS_ROWS
from heterophily.diagnosis.probe_columns import (
    QUICK_NODES,
    Floats,
    Nodes,
    draw_nodes,
    drawn_note,
)
from heterophily.diagnosis.sampled_columns import (
    LinearMap,
    SampledColumns,
    are_words,
    column_scale,
    directions_of,
)
from heterophily.diagnosis.sources import FEATURE_COLUMNS, SECRET
from heterophily.evaluation.scores import score_for

_ROWS = 1 << 18  # that are read at a time
_NUMBERS = 1 << 23  # of features of neighbours that are in memory at a time


class DiskColumns(SampledColumns):
    """The columns of a graph on disk: of the same nodes, in the same folds, as in memory.

    Parameters
    ----------
    graph
        The graph.
    labels
        Its labels, (N,): a signed integer type, -1 where there is none.
    seed, quick, max_nodes
        As for :class:`~heterophily.diagnosis.probe_columns.GraphColumns`.
    """

    sample: DiskSample

    def __init__(
        self, graph: DiskGraph, labels: NDArray[Any], seed: int, quick: bool, max_nodes: int
    ) -> None:
        self.graph, self.num_nodes = graph, graph.num_nodes
        self.mean_degree = graph.num_entries / max(graph.num_nodes, 1)
        rng = np.random.default_rng([SECRET, seed])
        notes: list[str] = []
        limit = min(max_nodes, QUICK_NODES) if quick else max_nodes
        nodes = np.flatnonzero(labels >= 0)
        present = np.flatnonzero(np.bincount(labels[labels >= 0]))
        score = score_for(labels)
        if nodes.size > limit:
            notes.append(drawn_note(limit, nodes.size))
            nodes = nodes.astype(np.uint32)  # half the memory while they are shuffled
            nodes = draw_nodes(labels, nodes, limit, score, rng).astype(np.int64)
        self.sample = DiskSample(graph, nodes, labels)
        notes.append("the neighbourhoods of these nodes were read from disk, all of them")
        super().__init__(
            self.sample.labels,
            num_classes=graph.num_classes,
            present=present,
            score=score,
            seed=seed,
            quick=quick,
            rng=rng,
            notes=notes,
        )

    def _signal(self) -> DiskSignal | None:
        if not self.graph.num_features:
            return None
        sums = PanelSums.of(self.graph)
        return DiskSignal(self.sample, sums, seed=self.sketch) if sums.filled.any() else None


@dataclass(frozen=True, eq=False)
class PanelSums:
    """Sums over all nodes for each feature on disk, (F,) each."""

    mean: Floats
    square: Floats
    smallest: Floats
    filled: NDArray[np.int64]

    @classmethod
    def of(cls, graph: DiskGraph) -> PanelSums:
        """Read every panel once."""
        count = graph.num_features
        total, square = np.zeros(count), np.zeros(count)
        smallest, filled = np.full(count, np.inf), np.zeros(count, np.int64)
        for panel in graph.panels:
            columns = slice(*panel.columns)
            for first, last in _row_ranges(graph.num_nodes):
                block = panel.read_rows(first, last)
                total[columns] += block.sum(axis=0, dtype=np.float64)
                square[columns] += np.einsum("ij,ij->j", block, block, dtype=np.float64)
                smallest[columns] = np.minimum(smallest[columns], block.min(axis=0))
                filled[columns] += np.count_nonzero(block, axis=0)
        return cls(total / graph.num_nodes, square / graph.num_nodes, smallest, filled)


class DiskSignal:
    """Features on disk scaled, centred and projected to at most 128 columns, as in memory."""

    def __init__(self, sample: DiskSample, sums: PanelSums, *, seed: int) -> None:
        self.sample, self.graph, self.width = sample, sample.graph, sums.mean.size
        self.factor: NDArray[np.float32] | None = None  # of each row, (N,)
        scale, mean = np.ones(self.width), sums.mean
        if are_words(sums.filled, sums.smallest, self.graph.num_nodes):
            self.factor = self._row_factor()
            mean = self._weighted_mean()
        else:
            scale = column_scale(sums.mean, sums.square)
        directions = None
        if self.width > FEATURE_COLUMNS:
            directions = directions_of(self._basis_rows(seed) * scale, seed=seed)
        self.linear = LinearMap(scale, directions, mean)

    def _row_factor(self) -> NDArray[np.float32]:
        """Return 1 / length of each row, 0 for rows of zeros."""
        found = np.empty(self.graph.num_nodes, np.float32)
        for first, last in _row_ranges(self.graph.num_nodes):
            square = np.zeros(last - first)
            for panel in self.graph.panels:
                block = panel.read_rows(first, last)
                square += np.einsum("ij,ij->i", block, block, dtype=np.float64)
            length = np.sqrt(square)
            found[first:last] = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return found

    def _weighted_mean(self) -> Floats:
        assert self.factor is not None
        total = np.zeros(self.width)
        for panel in self.graph.panels:
            for first, last in _row_ranges(self.graph.num_nodes):
                total[slice(*panel.columns)] += self.factor[first:last] @ panel.read_rows(
                    first, last
                )
        return total / self.graph.num_nodes

    def _basis_rows(self, seed: int) -> Floats:
        """Return some rows, drawn at random, of which the leading directions are taken."""
        count = self.graph.num_nodes
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(count, min(count, BASIS_ROWS), replace=False))
        return self._rows_of(rows).astype(np.float64)

    def _rows_of(self, nodes: Nodes) -> NDArray[np.float32]:
        found = np.concatenate([gathered(panel, nodes) for panel in self.graph.panels], axis=1)
        return found if self.factor is None else found * self.factor[nodes, None]

    @cached_property
    def _columns(self) -> list[range]:
        return [range(*panel.columns) for panel in self.graph.panels]

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return own features, the mean over neighbours, and two edges away, (n, D) each."""
        own, one, two = (np.zeros((1, 1)) for _ in range(3))
        for panel, columns in zip(self.graph.panels, self._columns, strict=True):
            parts = self.sample.means(panel, self.factor)
            found = [self.linear.of(part, columns) for part in parts]
            own, one, two = own + found[0], one + found[1], two + found[2]
        return self.linear.centred(self.sample, own, one, two)

    def of_neighbours(self) -> tuple[Nodes, NDArray[np.float32]]:
        """Return all neighbours of the sample, in order, and their features (M, D)."""
        ids = self.sample.near_nodes
        step = max(1, _NUMBERS // self.width)
        parts = [ids[at : at + step] for at in range(0, max(1, ids.size), step)]
        return ids, np.concatenate([self._signal(part) for part in parts])

    def _signal(self, nodes: Nodes) -> NDArray[np.float32]:
        rows = self._rows_of(nodes).astype(np.float64)
        signal = self.linear.of(rows, range(self.width)) - self.linear.center
        return signal.astype(np.float32)


def _row_ranges(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _ROWS):
        yield first, min(first + _ROWS, count)
