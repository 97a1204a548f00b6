from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.layers.sparse_matrix import SparseMatrix


def random_matrix(shape, seed=0, density=0.3):
    return sp.random_array(shape, density=density, format="csr", rng=np.random.default_rng(seed))


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (6, 6)])
@pytest.mark.parametrize("width", [1, 3, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_equal_the_dense_ones_both_ways(shape, width, dtype):
    matrix = random_matrix(shape)
    sparse = SparseMatrix.from_scipy(matrix, dtype=dtype)
    dense = torch.from_numpy(matrix.toarray()).to(dtype)
    right, left = (
        torch.randn(shape[1], width, dtype=dtype),
        torch.randn(shape[0], width, dtype=dtype),
    )
    torch.testing.assert_close(sparse @ right, dense @ right)
    torch.testing.assert_close(sparse.transpose_product(left), dense.T @ left)


def test_a_strided_operand_gives_the_same_product():
    matrix = random_matrix((6, 6))
    sparse = SparseMatrix.from_scipy(matrix)
    operand = torch.randn(6, 9)[:, 2:6]
    torch.testing.assert_close(sparse @ operand, sparse @ operand.contiguous(), rtol=0, atol=0)


def test_empty_rows_and_an_empty_matrix_give_zeros():
    sparse = SparseMatrix.from_scipy(sp.csr_array((3, 4), dtype=float))
    assert torch.equal(sparse @ torch.ones(4, 2), torch.zeros(3, 2))
    assert torch.equal(sparse.transpose_product(torch.ones(3, 2)), torch.zeros(4, 2))
    last = SparseMatrix.from_scipy(sp.csr_array([[1.0, 0.0], [0.0, 0.0]]))
    assert (last @ torch.ones(2, 1)).flatten().tolist() == [1.0, 0.0]


def test_repeated_entries_add_up():
    repeated = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert (SparseMatrix.from_scipy(repeated) @ torch.eye(2))[0, 1] == 3.0


def test_a_symmetric_matrix_is_stored_once_and_a_symmetric_pattern_shares_its_indices():
    symmetric = sp.csr_array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 5.0]])
    sparse = SparseMatrix.from_scipy(symmetric)
    assert sparse.transpose_values is sparse.values
    assert sparse.transpose_indices is sparse.indices
    scaled = SparseMatrix.from_scipy(sp.diags_array([1.0, 2.0, 3.0]) @ symmetric)
    assert scaled.transpose_indices is scaled.indices
    assert scaled.transpose_values is not scaled.values
    one_way = SparseMatrix.from_scipy(sp.csr_array([[0.0, 1.0], [0.0, 0.0]]))
    assert one_way.transpose_indices is not one_way.indices


def test_new_values_reach_the_transpose():
    matrix = random_matrix((5, 7))
    sparse = SparseMatrix.from_scipy(matrix)
    values = torch.randn(sparse.num_nonzeros)
    changed = sparse.with_values(values)
    dense = torch.zeros(5, 7)
    rows = np.repeat(np.arange(5), np.diff(matrix.indptr))
    dense[torch.from_numpy(rows), sparse.indices.long()] = values
    torch.testing.assert_close(changed.transpose_product(torch.eye(5)), dense.T)


def test_conversion_keeps_shared_parts_shared():
    sparse = SparseMatrix.from_scipy(sp.csr_array([[0.0, 2.0], [2.0, 0.0]]))
    double = sparse.to(dtype=torch.float64, device="cpu")
    assert double.dtype == torch.float64
    assert double.indices.dtype == sparse.indices.dtype
    assert double.transpose_values is double.values
