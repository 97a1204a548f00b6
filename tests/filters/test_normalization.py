"""Normalised adjacency against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.errors import InputError
from heterophily.filters.normalization import (
    NORMALIZATIONS,
    Normalization,
    NormalizedAdjacency,
    degrees,
    normalized_adjacency,
)


def random_adjacency(seed: int, *, weighted: bool, directed: bool) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((12, 12)) < 0.25, 1).astype(float)
    if weighted:
        dense *= rng.uniform(0.1, 3.0, dense.shape)
    dense = np.where(rng.random(dense.shape) < 0.5, dense, dense.T) if directed else dense + dense.T
    dense[3, :] = dense[:, 3] = 0.0  # an isolated node
    dense[5, 5] = 1.0  # a stored loop
    return sp.csr_array(dense)


def dense_operator(adjacency: np.ndarray, kind: str, renormalize: bool) -> np.ndarray:
    matrix = adjacency + np.eye(len(adjacency)) if renormalize else adjacency
    degree = matrix.sum(axis=1)
    with np.errstate(divide="ignore"):
        inverse = np.where(degree > 0, 1.0 / degree, 0.0)
    if kind == "random-walk":
        return inverse[:, None] * matrix
    return np.sqrt(inverse)[:, None] * matrix * np.sqrt(inverse)[None, :]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_matrix_and_factored_form_equal_the_dense_formula(
    kind: Normalization, renormalize: bool, directed: bool, weighted: bool
) -> None:
    adjacency = random_adjacency(1, weighted=weighted, directed=directed)
    expected = dense_operator(adjacency.toarray(), kind, renormalize)
    matrix = normalized_adjacency(adjacency, kind=kind, renormalize=renormalize)
    operator = NormalizedAdjacency.of(adjacency, kind=kind, renormalize=renormalize)
    signal = np.random.default_rng(2).normal(size=(12, 3))
    assert matrix.dtype == np.float64
    np.testing.assert_allclose(matrix.toarray(), expected, atol=1e-15)
    np.testing.assert_allclose(operator @ signal, expected @ signal, atol=1e-14)
    np.testing.assert_allclose(operator @ signal[:, 0], expected @ signal[:, 0], atol=1e-14)
    np.testing.assert_allclose(operator.transpose_matmul(signal), expected.T @ signal, atol=1e-14)


def test_renormalized_random_walk_rows_add_up_to_one() -> None:
    matrix = normalized_adjacency(random_adjacency(3, weighted=True, directed=True))
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)


def test_node_without_neighbours_keeps_its_signal_when_renormalized_and_loses_it_otherwise() -> (
    None
):
    adjacency = random_adjacency(4, weighted=False, directed=False)
    signal = np.arange(12.0)
    assert (NormalizedAdjacency.of(adjacency) @ signal)[3] == 3.0
    assert (NormalizedAdjacency.of(adjacency, renormalize=False) @ signal)[3] == 0.0


def test_stored_loop_gives_two_on_the_diagonal() -> None:
    adjacency = sp.csr_array([[1.0, 1.0], [1.0, 0.0]])
    assert normalized_adjacency(adjacency).toarray().tolist() == [[2 / 3, 1 / 3], [0.5, 0.5]]


def test_products_do_not_change_their_input() -> None:
    adjacency = random_adjacency(5, weighted=True, directed=False)
    operator = NormalizedAdjacency.of(adjacency, kind="symmetric")
    before, signal = adjacency.copy(), np.ones((12, 2))
    _ = operator @ signal, operator.transpose_matmul(signal), operator.to_csr()
    assert (signal == 1.0).all()
    assert (before != adjacency).nnz == 0


def test_degrees_are_weighted_row_sums_in_double_precision() -> None:
    adjacency = sp.csr_array(np.array([[0.0, 0.1], [0.2, 0.3]], dtype=np.float32))
    assert degrees(adjacency).dtype == np.float64
    np.testing.assert_allclose(degrees(adjacency), [0.1, 0.5], rtol=1e-7)


def test_unknown_normalization_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match="choose 'random-walk' or 'symmetric'"):
        normalized_adjacency(sp.csr_array((2, 2)), kind="row")  # type: ignore[arg-type]


def test_degrees_of_single_precision_weights_are_added_in_double_precision() -> None:
    row = np.array([[1.0, 2.0**-24, 2.0**-24]], np.float32)  # the small ones vanish in float32
    assert degrees(sp.csr_array(np.repeat(row, 3, axis=0)))[0] == 1.0 + 2.0**-23
