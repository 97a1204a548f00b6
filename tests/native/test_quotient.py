"""The twin quotient is the matrix itself."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from heterophily.native.quotient import quotient_of


def twins(rng: np.random.Generator) -> sp.csr_array:
    classes = rng.integers(0, 4, 40)
    beside = np.triu(rng.random((4, 4)) < 0.5, 1)
    dense = (beside | beside.T)[np.ix_(classes, classes)].astype(float)
    return sp.csr_array(dense)


def test_quotient_rebuilds_the_matrix() -> None:
    rng = np.random.default_rng(2)
    pattern = twins(rng)
    scale = rng.random(40)
    matrix = sp.csr_array(sp.diags_array(scale) @ pattern + sp.diags_array(rng.random(40)))
    found = quotient_of(matrix)
    assert found is not None
    rebuilt = found.members.T @ found.classes @ found.members
    rebuilt = found.scale[:, None] * rebuilt.toarray() + np.diag(found.diagonal)
    np.testing.assert_allclose(rebuilt, matrix.toarray(), atol=1e-15)
    assert found.row_reads < matrix.nnz


def test_matrices_without_equal_rows_have_no_quotient() -> None:
    rng = np.random.default_rng(3)
    pattern = twins(rng)
    assert quotient_of(sp.csr_array(sp.diags_array(rng.random(40)) @ pattern.T * 1.0)) is not None
    uneven = pattern.copy()
    uneven.data = rng.random(uneven.nnz)
    assert quotient_of(uneven) is None  # values differ within a row
    path = sp.diags_array([np.ones(39), np.ones(39)], offsets=[-1, 1])
    assert quotient_of(sp.csr_array(path)) is None  # nothing to share
