"""Sparse features on disk: the rows of X as three files, and their columns as panels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.disk.files import mapped, write_blocks
from heterophily.data.disk.manifest import WIDEST_PANEL, FeatureEntry, SparseEntry
from heterophily.data.disk.verify import ascending, finite, verify, within

_LARGEST = 2**31 - 1  # nonzeros: their places are 32-bit numbers in memory
_SPARSE_BELOW = 0.25  # share of nonzeros, as in layers/feature_scaling.py


def is_kept_sparse(features: Any, dtype: str) -> bool:
    """Whether features are written by their nonzeros: 8 bytes each instead of 4 an entry."""
    if dtype != "float32" or not sp.issparse(features):
        return False
    if features.nnz and abs(features.data).max() > np.finfo(np.float32).max:
        return False  # whoever writes panels says which column it is
    most = _SPARSE_BELOW * features.shape[0] * features.shape[1]
    return bool(features.nnz <= min(most, _LARGEST))


def write_sparse(folder: Path, features: Any, names: tuple[str, ...]) -> FeatureEntry:
    """Write the rows of a sparse matrix: where each starts, its columns, its values."""
    matrix = sp.csr_array(features)
    matrix.sum_duplicates()
    stored = matrix.data.astype("<f4")
    return FeatureEntry(
        num_columns=matrix.shape[1],
        dtype="float32",
        names=names,
        panels=(),
        sparse=SparseEntry(
            matrix.nnz,
            write_blocks(folder / "x.indptr", [matrix.indptr.astype("<i8")]),
            write_blocks(folder / "x.indices", [matrix.indices.astype("<i4")]),
            write_blocks(folder / "x.values", [stored]),
        ),
    )


def open_sparse(folder: Path, of: FeatureEntry, num_nodes: int) -> sp.csr_array:
    """Return X (N, F) over mapped files, each compared with its checksum before."""
    assert of.sparse is not None
    entry, count = of.sparse, of.sparse.num_entries
    starts = verify(folder, entry.indptr, "<i8", ascending(num_nodes + 1, count))
    columns = verify(folder, entry.indices, "<i4", within(0, of.num_columns))
    values = verify(folder, entry.values, "<f4", finite("float32"))
    return sp.csr_array(
        (
            mapped(values, "<f4", (count,)),
            mapped(columns, "<i4", (count,)),
            np.fromfile(starts, "<i8"),
        ),
        shape=(num_nodes, of.num_columns),
    )


@dataclass(frozen=True)
class SparsePanel:
    """Some columns of sparse features, read as if they were a panel of their own."""

    matrix: sp.csr_array
    columns: tuple[int, int]
    dtype = "float32"

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.columns[1] - self.columns[0]

    def read_rows(self, first: int, last: int) -> NDArray[np.float32]:
        """Return consecutive rows, (n, width)."""
        return self.read(slice(first, last))

    def read(self, rows: slice | NDArray[Any] = slice(None)) -> NDArray[np.float32]:
        """Return rows, (n, width)."""
        found = self.matrix[rows][:, slice(*self.columns)]
        return np.asarray(found.toarray(), np.float32)


def panels_of(matrix: sp.csr_array) -> tuple[SparsePanel, ...]:
    """Return sparse features as panels of at most 16 columns."""
    count = matrix.shape[1]
    return tuple(
        SparsePanel(matrix, (at, min(at + WIDEST_PANEL, count)))
        for at in range(0, count, WIDEST_PANEL)
    )
