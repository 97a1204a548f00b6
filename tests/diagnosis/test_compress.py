"""Compressed features keep inner products, stay linear, and never become wide and dense."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.diagnosis import compress as module
from heterophily.diagnosis.compress import compress, scale_features


def words(num_rows: int, num_columns: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(
        sp.random_array((num_rows, num_columns), density=0.02, rng=rng, format="csr")
    )


def test_narrow_features_are_kept_as_they_are() -> None:
    matrix = words(50, 20)
    np.testing.assert_array_equal(compress(matrix), matrix.toarray())


def test_inner_products_are_exact_when_rows_are_few() -> None:
    matrix = words(60, 900)
    small = compress(matrix, columns=64)
    assert small.shape == (60, 60)
    np.testing.assert_allclose(small @ small.T, (matrix @ matrix.T).toarray(), atol=1e-10)


def test_aggregation_and_compression_commute() -> None:
    matrix = words(40, 300)
    operator = np.full((40, 40), 1 / 40)
    small = compress(matrix, columns=64)
    aggregated = operator @ matrix.toarray()
    mixed = operator @ small
    np.testing.assert_allclose(mixed @ mixed.T, aggregated @ aggregated.T, atol=1e-10)


def test_columns_shrink_with_the_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 3000)
    monkeypatch.setattr(module, "BASIS_ROWS", 100)
    assert compress(words(300, 500)).shape == (300, 10)


def test_same_seed_gives_the_same_columns() -> None:
    matrix = words(400, 500)
    np.testing.assert_array_equal(compress(matrix, columns=32), compress(matrix, columns=32))


def test_words_are_scaled_by_rows_and_an_empty_row_stays_empty() -> None:
    matrix = sp.csr_array(np.array([[3.0, 4.0] + [0.0] * 8, [0.0] * 10]))
    scaled = scale_features(matrix)
    assert sp.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray()[:, :2], [[0.6, 0.8], [0.0, 0.0]])


def test_measurements_are_scaled_by_columns_so_their_units_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(100, 3))
    metres, millimetres = scale_features(matrix), scale_features(matrix * [1.0, 1000.0, 1e-6])
    np.testing.assert_allclose(metres, millimetres)
    np.testing.assert_allclose(metres.std(axis=0), 1.0)


def test_a_constant_column_carries_nothing() -> None:
    matrix = np.column_stack([np.full(50, 0.1), np.arange(50.0) - 20])
    assert (scale_features(matrix)[:, 0] == 0).all()


@pytest.mark.parametrize("matrix", [np.eye(8), np.arange(40.0).reshape(8, 5) - 9])
def test_scale_depends_on_values_not_on_storage(matrix: np.ndarray) -> None:
    dense, sparse = scale_features(matrix), scale_features(sp.csr_array(matrix))
    np.testing.assert_allclose(dense, sparse.toarray(), atol=1e-12)
