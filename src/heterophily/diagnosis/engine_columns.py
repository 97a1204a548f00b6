"""The columns of the probe from tables in an engine, which aggregates the neighbourhoods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heterophily.data.warehouse.features import SAMPLED, EngineFeatures
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.data.warehouse.sample import NodeSample
from heterophily.diagnosis.probe_columns import QUICK_NODES, Floats, Nodes, drawn_note
from heterophily.diagnosis.sampled_columns import (
    LinearMap,
    SampledColumns,
    are_words,
    column_scale,
    directions_of,
)
from heterophily.diagnosis.sources import FEATURE_COLUMNS, SECRET
from heterophily.evaluation.scores import score_for


class EngineColumns(SampledColumns):
    """The columns of a graph in an engine.

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

    sample: NodeSample

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
        self.num_nodes = graph.num_nodes
        self.mean_degree = 2 * graph.num_edges / max(graph.num_nodes, 1)
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

    def _signal(self) -> EngineSignal | None:
        if self.features is None or not self.features.sums.filled.any():
            return None
        return EngineSignal.of(self.features, self.sample, seed=self.sketch)


def _thinned(sizes: Nodes) -> Nodes:
    """Return class sizes of the same proportions that add up to some hundred thousand at most."""
    scale = max(1.0, float(sizes.sum()) / 100_000)
    return np.ceil(sizes / scale).astype(np.int64)


class EngineSignal:
    """Features scaled, centred and projected to at most 128 columns, as in memory.

    All of it is linear but the length of rows, which the engine divides by: so the engine averages
    features, and the averages are projected here.
    """

    def __init__(self, features: EngineFeatures, sample: NodeSample, linear: LinearMap) -> None:
        self.features, self.sample, self.linear = features, sample, linear
        self.width = features.width

    @classmethod
    def of(cls, features: EngineFeatures, sample: NodeSample, *, seed: int) -> EngineSignal:
        """Look at sums over all nodes, and at some rows where there are many columns."""
        sums = features.sums
        scale = np.ones(features.width)
        if are_words(sums.filled, sums.smallest, features.graph.num_nodes):
            features = features.with_unit_rows()
        else:
            scale = column_scale(sums.mean, sums.square)
        directions = None
        if features.width > FEATURE_COLUMNS:
            directions = directions_of(features.sample(SAMPLED, seed=seed) * scale, seed=seed)
        return cls(features, sample, LinearMap(scale, directions, features.sums.mean))

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return own features, the mean over neighbours, and two edges away, (n, D) each."""
        own, one, two = (np.zeros((1, 1)) for _ in range(3))
        at = 0
        for names in self.features.chunks():
            columns = range(at, at + len(names))
            parts = self.sample.means(self.features, names)
            found = [self.linear.of(part, columns) for part in parts]
            own, one, two = own + found[0], one + found[1], two + found[2]
            at += len(names)
        return self.linear.centred(self.sample, own, one, two)

    def of_neighbours(self) -> tuple[NDArray[np.generic], NDArray[np.float32]]:
        """Return the ids of all neighbours of the sample, in order, and their features (M, D)."""
        signal, ids, at = np.zeros((1, 1)), np.zeros(0), 0
        for names in self.features.chunks():
            ids, values = self.sample.neighbour_rows(self.features, names)
            signal = signal + self.linear.of(values, range(at, at + len(names)))
            at += len(names)
        return ids, (signal - self.linear.center).astype(np.float32)
