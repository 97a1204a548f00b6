"""The features of a graph, in memory or on disk, as panels of columns; and how they are scaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.channels.operator import WIDEST_IN_MEMORY, padded
from heterophily.channels.rows import AnyGraph
from heterophily.channels.stored import SPARSE_BELOW, Rows, Stored, is_sparse
from heterophily.data.disk.graph import DiskGraph, DiskPanel
from heterophily.data.memory import need
from heterophily.errors import InputError

ROWS = 1 << 18  # rows of a panel that are read at a time


class FeaturePanels:
    """Panels of columns of X, at most 16 from disk and 64 from memory, read by blocks of rows."""

    def __init__(self, graph: AnyGraph) -> None:
        self.graph, self.num_nodes = graph, graph.num_nodes
        self.sparse: sp.csr_array | None = None  # X itself, where it is sparse
        if graph.num_features == 0:
            raise InputError(
                f"{graph.name} has no features: channels and sampled neighbourhoods need feature "
                "columns; name a node table with some, or train with --batches full"
            )
        if isinstance(graph, DiskGraph):
            self.ranges = [panel.columns for panel in graph.panels]
            self.sparse = graph.sparse_features
            return
        count = graph.num_features
        step = WIDEST_IN_MEMORY
        self.ranges = [(at, min(at + step, count)) for at in range(0, count, step)]
        features: Any = graph.features
        self._matrix = sp.csc_array(features) if sp.issparse(features) else np.asarray(features)
        if sp.issparse(features) and is_sparse(features):
            self.sparse = sp.csr_array(features).astype(np.float32)
            self.sparse.sum_duplicates()

    def __len__(self) -> int:
        """Return the number of panels."""
        return len(self.ranges)

    @property
    def num_columns(self) -> int:
        """Number of columns F."""
        return self.ranges[-1][1]

    def width(self, panel: int) -> int:
        """Return the columns of a panel."""
        first, last = self.ranges[panel]
        return last - first

    def blocks(self, panel: int) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Iterate over the rows of a panel, as float32 in memory."""
        for at in range(0, self.num_nodes, ROWS):
            rows = slice(at, min(at + ROWS, self.num_nodes))
            yield rows, self.read(panel, rows)

    def read(self, panel: int, rows: slice) -> NDArray[np.float32]:
        """Return some rows of a panel, (n, width)."""
        if isinstance(self.graph, DiskGraph):
            return self.graph.panels[panel].read_rows(rows.start, rows.stop)
        block: Any = self._matrix[:, slice(*self.ranges[panel])][rows]
        return np.asarray(block.toarray() if sp.issparse(block) else block, np.float32)

    def stored(self, scale: FeatureScale) -> Stored:
        """Return X as it is read by rows: sparse, where it is and its scale leaves it so."""
        return self.arrays() if self.sparse is None or scale.moves_zeros else self.sparse

    def arrays(self) -> list[NDArray[np.float32]]:
        """Return the panels as arrays, (N, width) each; float32 files are mapped, not read."""
        if isinstance(self.graph, DiskGraph):
            mapped = [p for p in self.graph.panels if isinstance(p, DiskPanel)]
            if mapped and mapped[0].dtype == "float32":
                return [panel.raw for panel in mapped]
            if not mapped:
                need(4 * self.num_nodes * self.num_columns, "X, whose zeros are shifted,")
        whole = slice(0, self.num_nodes)
        return [np.ascontiguousarray(self.read(panel, whole)) for panel in range(len(self))]


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """What a model sees of X: ``(X / row sum - center) / spread``, each part optional.

    The same as :class:`~heterophily.layers.inputs.GraphInputs` does in memory.
    """

    center: NDArray[np.float64] | None = None  # (F,)
    spread: NDArray[np.float64] | None = None  # (F,)
    row_factor: NDArray[np.float64] | None = None  # (N,)

    @property
    def moves_zeros(self) -> bool:
        """Whether zeros become other numbers, so that sparse features would be dense."""
        return self.center is not None and bool(self.center.any())

    def apply(self, values: Rows, rows: slice | NDArray[Any], columns: slice) -> Any:
        """Return some rows and columns, scaled; sparse rows stay sparse."""
        if isinstance(values, sp.csr_array):
            return self._apply_sparse(values, rows, columns)
        if self.row_factor is not None:
            values = (values * self.row_factor[rows, None]).astype(np.float32)
        if self.center is not None and self.spread is not None:
            scaled = (values - self.center[columns]) / self.spread[columns]
            values = scaled.astype(np.float32)
        return values

    def _apply_sparse(
        self, values: sp.csr_array, rows: slice | NDArray[Any], columns: slice
    ) -> sp.csr_array:
        data: NDArray[Any] = values.data
        if self.row_factor is not None:
            factor = np.repeat(self.row_factor[rows], np.diff(values.indptr))
            data = (data * factor).astype(np.float32)
        if self.spread is not None:
            data = (data / self.spread[columns][values.indices]).astype(np.float32)
        return sp.csr_array((data, values.indices, values.indptr), shape=values.shape)

    @property
    def columns(self) -> Mapping[str, list[float]] | None:
        """Center and spread as plain data, for the card of a model; None without them."""
        if self.center is None or self.spread is None:
            return None
        return {"center": self.center.tolist(), "spread": self.spread.tolist()}

    def with_columns(self, columns: Mapping[str, list[float]] | None) -> FeatureScale:
        """Return the scale with center and spread of the graph a model was trained on."""
        if columns is None:
            return self
        center, spread = (np.array(columns[key]) for key in ("center", "spread"))
        return replace(self, center=center, spread=spread)


def kind_of(panels: FeaturePanels) -> str:
    """Return what features are, by the rule of models in memory: ``counts`` or ``numbers``."""
    if panels.sparse is not None and panels.sparse.nnz:
        return "counts" if panels.sparse.data.min() >= 0 else "numbers"
    nonzero = 0
    for panel in range(len(panels)):
        for _, block in panels.blocks(panel):
            if block.size and block.min() < 0:
                return "numbers"
            nonzero += int(np.count_nonzero(block))
    share = nonzero / max(1, panels.num_nodes * panels.num_columns)
    return "counts" if share <= SPARSE_BELOW else "numbers"


def scale_of(panels: FeaturePanels, kind: str, *, row_normalize: bool) -> FeatureScale:
    """Measure how features of a kind are scaled: one pass over the panels, or two."""
    if kind == "numbers":
        found = [_column_scale(panels, panel) for panel in range(len(panels))]
        center, spread = (np.concatenate([each[k] for each in found]) for k in (0, 1))
        return FeatureScale(center=center, spread=spread)
    if kind == "counts" and row_normalize:
        sums = np.zeros(panels.num_nodes)
        if panels.sparse is not None:
            sums[:] = abs(panels.sparse.astype(np.float64)).sum(axis=1)
        for panel in range(len(panels) if panels.sparse is None else 0):
            for rows, block in panels.blocks(panel):
                sums[rows] += np.abs(block).sum(axis=1, dtype=np.float64)
        factor = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        return FeatureScale(row_factor=factor)
    return FeatureScale()


def _column_scale(
    panels: FeaturePanels, panel: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation of the columns of a panel, as ``ColumnScale.fit`` finds them."""
    total = np.zeros(panels.width(panel))
    largest = np.zeros(panels.width(panel))
    for _, block in panels.blocks(panel):
        total += block.sum(axis=0, dtype=np.float64)
        largest = np.maximum(largest, np.abs(block).max(axis=0))
    count = max(1, panels.num_nodes)
    unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))
    center = total / count if panels.sparse is None else np.zeros_like(total)
    squares = np.zeros_like(total)
    for _, block in panels.blocks(panel):
        squares += np.square((block - center) / unit).sum(axis=0)
    spread = unit * np.sqrt(squares / count)
    size = np.abs(center)
    is_constant = spread <= 1e-7 * size  # rounding errors of float32 and of the mean
    spread = np.where(is_constant, np.where(size > 0, size, 1.0), spread)
    spread = np.where(spread > 0, spread, 1.0)
    return np.where(is_constant, 0.0, center), spread


def load_panel(panels: FeaturePanels, scale: FeatureScale, panel: int) -> NDArray[np.float32]:
    """Return a scaled panel in memory, padded for the product."""
    found = padded(panels.num_nodes, panels.width(panel))
    columns = slice(*panels.ranges[panel])
    for rows, block in panels.blocks(panel):
        found[rows, : block.shape[1]] = scale.apply(block, rows, columns)
    return found
