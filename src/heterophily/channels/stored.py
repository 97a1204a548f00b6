"""Rows of a stored matrix (N, F): panels of columns side by side, or one sparse matrix."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.channels.rows import read_slice
from heterophily.native.sampler import gather_rows

Stored: TypeAlias = Sequence[NDArray[np.float32]] | sp.csr_array
Rows: TypeAlias = NDArray[np.float32] | sp.csr_array

SPARSE_BELOW = 0.25
"""Share of nonzeros up to which a matrix stays sparse, as in layers/feature_scaling.py."""


def read_rows(stored: Stored, rows: slice | NDArray[Any], *, threads: int = 1) -> Rows:
    """Return some rows (n, F): dense of panels, sparse of a sparse matrix."""
    if isinstance(stored, sp.csr_array):
        return sp.csr_array(stored[rows])
    if isinstance(rows, slice):
        begin, end, _ = rows.indices(stored[0].shape[0])
        return np.concatenate([read_slice(panel, begin, end) for panel in stored], axis=1)
    return gather_rows(stored, rows, threads=threads)


def difference(left: Rows, right: Rows) -> Rows:
    """Return ``left - right``: sparse only if both are.

    >>> difference(sp.csr_array([[3.0, 0.0]]), np.array([[1.0, 2.0]])).tolist()
    [[2.0, -2.0]]
    """
    if isinstance(left, sp.csr_array) and isinstance(right, sp.csr_array):
        return sp.csr_array(left - right)
    return dense(left) - dense(right)


def dense(rows: Rows) -> NDArray[np.float32]:
    """Return rows as an array (n, F)."""
    return np.asarray(rows.toarray() if isinstance(rows, sp.csr_array) else rows, np.float32)


def is_sparse(found: Any) -> bool:
    """Whether at most a quarter of a matrix is nonzero.

    >>> is_sparse(np.eye(4)), is_sparse(np.eye(3))
    (True, False)
    """
    count = found.nnz if sp.issparse(found) else np.count_nonzero(found)
    return bool(count <= SPARSE_BELOW * max(1, int(np.prod(found.shape))))


def thinned(panel: NDArray[np.float32]) -> Any:
    """Return a computed panel (N, width) as it is kept: sparse if it is."""
    return sp.csr_array(panel) if is_sparse(panel) else panel


def joined(panels: list[Any]) -> Stored:
    """Return computed panels as one stored matrix: sparse if all of it together is.

    The list is emptied, so that no column is in memory twice for long.
    """
    kept = sum(panel.nnz if sp.issparse(panel) else panel.size for panel in panels)
    shape = panels[0].shape[0], sum(panel.shape[1] for panel in panels)
    if not any(map(sp.issparse, panels)) or kept > SPARSE_BELOW * shape[0] * shape[1]:
        found = []
        while panels:
            found.append(dense(panels.pop(0)))
        return found
    counts = np.zeros(shape[0], np.int64)
    for panel in panels:
        counts += np.diff(sp.csr_array(panel).indptr)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(indptr[-1], np.int32 if shape[1] < 2**31 else np.int64)
    data = np.empty(indptr[-1], np.float32)
    free, column = indptr[:-1].copy(), 0  # where the next entry of each row goes
    while panels:
        panel = sp.csr_array(panels.pop(0))
        counts = np.diff(panel.indptr)
        places = np.repeat(free - panel.indptr[:-1], counts) + np.arange(panel.nnz)
        indices[places], data[places] = panel.indices + column, panel.data
        free, column = free + counts, column + panel.shape[1]
    return sp.csr_array((data, indices, indptr), shape=shape)


def release(stored: Stored) -> None:
    """Let go of the pages of what is a mapped file."""
    held = [stored.indices, stored.data] if isinstance(stored, sp.csr_array) else stored
    for array in held:
        source: Any = array
        while source is not None and not isinstance(source, np.memmap):
            source = getattr(source, "base", None)
        found = getattr(source, "_mmap", None)
        if found is not None and hasattr(mmap, "MADV_DONTNEED"):
            found.madvise(mmap.MADV_DONTNEED)
