"""Â of a graph whose rows are streamed: one pass over the edges for a panel of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heterophily.channels.rows import (
    AnyGraph,
    Orientation,
    ahead,
    blocks_of,
    degrees_of,
    parts_of,
    usable_threads,
)
from heterophily.filters.normalization import Normalization
from heterophily.native.panels import STRIDES, panel_product
from heterophily.native.sampler import CsrParts

WIDEST = 16
"""Columns of one panel on disk: its rows fill one line of the cache."""

WIDEST_IN_MEMORY = STRIDES[-1]
"""Columns of one panel of a graph in memory: fewer passes over the edges."""


@dataclass(frozen=True, eq=False)
class StreamedOperator:
    r"""The operator of :class:`~heterophily.filters.normalization.NormalizedAdjacency`, streamed.

    Nothing of it is held but, for the symmetric form, one number for each node. Row v of the
    random walk is :math:`(x_v + \sum_u x_u) / (d_v + 1)`.
    """

    parts: CsrParts
    kind: Normalization = "random-walk"
    renormalize: bool = True

    @classmethod
    def of(
        cls,
        graph: AnyGraph,
        direction: Orientation = "forward",
        *,
        kind: Normalization = "random-walk",
        renormalize: bool = True,
    ) -> StreamedOperator:
        """Return the operator of a graph, or of its edges reversed."""
        return cls(parts_of(graph, direction), kind, renormalize)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return int(self.parts.first_row[-1])

    @cached_property
    def root(self) -> NDArray[np.float64]:
        """Of the symmetric form: 1 / sqrt(degree), (N,), the factor on both sides."""
        return np.sqrt(self._inverse(degrees_of(self.parts)))

    def product(
        self, panel: NDArray[np.float32], width: int, *, threads: int | None = None
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Iterate over blocks of rows of Â times a panel: the first row, and (n, width) values.

        ``panel`` (N, S) lies in memory, padded by :func:`padded`; the symmetric form multiplies it
        by :attr:`root` in place. Blocks come in the order of the rows; the next one is read while
        this one is computed.
        """
        count = usable_threads() if threads is None else threads
        is_symmetric = self.kind == "symmetric"
        if is_symmetric:
            panel *= self.root[:, None].astype(np.float32)
        for block in ahead(blocks_of(self.parts)):
            rows = slice(block.first, block.first + block.num_rows)
            left = self.root[rows] if is_symmetric else self._inverse(np.diff(block.indptr))
            out = np.empty((block.num_rows, width), np.float32)
            panel_product(
                block.first,
                block.indptr,
                block.indices,
                left,
                panel,
                out,
                has_loop=self.renormalize,
                threads=count,
            )
            yield block.first, out

    def _inverse(self, degrees: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 / (degree + loop), 0 where there is none."""
        total = degrees.astype(np.float64) + (1.0 if self.renormalize else 0.0)
        return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)


def stride_of(width: int) -> int:
    """Return the floats that a row of a panel of so many columns takes in memory.

    >>> stride_of(5), stride_of(16)
    (8, 16)
    """
    return next(stride for stride in STRIDES if stride >= width)


def padded(num_nodes: int, width: int) -> NDArray[np.float32]:
    """Return an empty panel in memory, (N, stride), aligned to the lines of the cache; zeros."""
    stride = stride_of(width)
    raw = np.zeros(num_nodes * stride + 16, np.float32)
    shift = (-raw.ctypes.data % 64) // 4
    return raw[shift : shift + num_nodes * stride].reshape(num_nodes, stride)
