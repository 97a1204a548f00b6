"""Sums of small whole numbers that do not wrap around."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def wide_csr(matrix: Any) -> sp.csr_array:
    """Return a sparse or dense matrix as CSR; entries stored twice add up, also in small types.

    >>> twice = sp.coo_array((np.array([200, 200], np.uint8), ([0, 0], [1, 1])), shape=(2, 2))
    >>> wide_csr(twice).toarray().tolist()
    [[0, 400], [0, 0]]
    """
    if not sp.issparse(matrix):
        return sp.csr_array(matrix)
    is_summed = matrix.format == "csr" and matrix.has_canonical_format
    if not is_summed and matrix.dtype.kind in "iub":
        matrix = matrix.astype(np.float64 if matrix.dtype == np.uint64 else np.int64)
    found = sp.csr_array(matrix)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found
