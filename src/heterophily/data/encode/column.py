"""One column of a table, encoded: what every kind of column can do."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.encode.blocks import ColumnBlock, Values
from heterophily.data.encode.cells import Strange, trimmed

MISSING_NAME = "missing"
"""What the feature is called that says which cells were missing."""


class Column(Protocol):
    """An encoded column: a frozen value of plain data.

    The class of each kind also has ``learn(name, kind, column)``, which returns the fitted column,
    its parsed cells, and the cells that do not fit. Arrow columns are written ``Any``.
    """

    @property
    def name(self) -> str:
        """Name of the column in the table."""
        ...

    @property
    def kind(self) -> str:
        """Kind of the column (see :data:`~heterophily.data.encode.kinds.KINDS`)."""
        ...

    @property
    def missing(self) -> float:
        """Share of missing cells in training."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of the matrix."""
        ...

    def parse(self, column: Any) -> tuple[Any, Strange]:
        """Return the cells in the form that ``encode`` takes, and those that do not fit."""
        ...

    def encode(self, cells: Any) -> list[ColumnBlock]:
        """Return the blocks of the matrix."""
        ...

    def values(self, cells: Any) -> Any:
        """Return the cells as one value per row (N,), or as a sparse matrix, to compare them."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        ...


def indicator(missing: NDArray[np.bool_]) -> Values:
    """Return a feature that says which cells were missing."""
    return Values(missing.astype(np.float32))


def sample_of(column: Any, most: int = 10_000) -> Any:
    """Return distinct filled cells of a text column, of rows spread over all of them."""
    step = max(1, len(column) // most)
    rows = pa.array(np.arange(0, len(column), step))
    cells = trimmed(column.take(rows)).combine_chunks()
    return cells.drop_null()
