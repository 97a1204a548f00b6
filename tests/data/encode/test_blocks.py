"""Blocks side by side are one matrix, the same one dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.encode.blocks import Bag, ColumnBlock, OneOf, Values, side_by_side


@pytest.mark.parametrize("rows", [1, 7, 50_000])
@pytest.mark.parametrize("num_bags", [0, 1, 2])
def test_sparse_matrix_equals_the_dense_one(rows: int, num_bags: int) -> None:
    rng = np.random.default_rng(rows)
    blocks: list[ColumnBlock] = [
        Values(np.where(rng.random(rows) < 0.5, rng.normal(size=rows), 0).astype(np.float32)),
        OneOf(rng.integers(-1, 40, rows).astype(np.int32), 40),
        Values(np.zeros(rows, np.float32)),
    ]
    for _ in range(num_bags):
        words = sp.random_array((rows, 30), density=0.1, rng=rng, format="csr", dtype=np.float32)
        words.sum_duplicates()
        blocks.append(Bag(words))
    matrix = side_by_side(blocks, rows)
    assert sp.issparse(matrix)
    assert matrix.dtype == np.float32
    dense = np.zeros(matrix.shape, np.float32)
    start = 0
    for block in blocks:
        block.write(dense[:, start : start + block.width])
        start += block.width
    expected = sp.csr_array(dense)
    np.testing.assert_array_equal(matrix.indptr, expected.indptr)
    np.testing.assert_array_equal(matrix.indices, expected.indices)
    np.testing.assert_array_equal(matrix.data, expected.data)


def test_double_precision_only_where_single_is_not_exact() -> None:
    exact, fraction = Values(np.array([0.5, 2.0])), Values(np.array([0.1, 1e300]))
    assert side_by_side([exact], 2).dtype == np.float32
    assert side_by_side([exact, fraction], 2).tolist() == [[0.5, 0.1], [2.0, 1e300]]
    assert side_by_side([], 2) is None
