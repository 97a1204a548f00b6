from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.layers.edges import edges_of
from heterophily.layers.propagation import Propagation
from heterophily.layers.sheaf import (
    LAPLACIANS,
    diagonal_laplacian,
    general_laplacian,
    householder,
    inverse_root,
    orthogonal_laplacian,
)

N, D = 7, 3


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((N, N)) < 0.4, 1)
    upper[:, N - 1] = False  # the last node is isolated
    pattern = sp.csr_array(upper.astype(float))  # each pair once
    return edges_of(Propagation.from_scipy(pattern, dtype=torch.float64))


def random_maps(kind, pairs):
    torch.manual_seed(0)
    if kind == "diagonal":
        return torch.randn(D, 2, pairs.num_edges, dtype=torch.float64)
    if kind == "orthogonal":
        numbers = torch.randn(3, 2 * pairs.num_edges, dtype=torch.float64)
        return householder(numbers, D).unflatten(2, (2, -1))
    return torch.randn(D, D, 2, pairs.num_edges, dtype=torch.float64)


def as_matrix(laplacian):
    """Apply the operator to every unit vector: (N d, N d)."""
    eye = torch.eye(N * D, dtype=torch.float64).view(N, D, N * D)
    return laplacian(eye).reshape(N * D, N * D)


def dense_laplacian(maps, pairs):
    """Definition 2 as coboundary: L = delta^T delta, over undirected pairs, then normalised."""
    whole = (
        maps if maps.ndim == 4 else torch.diag_embed(maps.movedim(0, -1)).movedim((2, 3), (0, 1))
    )
    laplacian = torch.zeros(N * D, N * D, dtype=torch.float64)
    for k, (v, u) in enumerate(zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True)):
        delta = torch.zeros(D, N * D, dtype=torch.float64)
        delta[:, v * D : (v + 1) * D] = whole[:, :, 0, k]
        delta[:, u * D : (u + 1) * D] = -whole[:, :, 1, k]
        laplacian += delta.T @ delta
    root = torch.zeros_like(laplacian)
    for v in range(N):
        cut = slice(v * D, (v + 1) * D)
        values, vectors = torch.linalg.eigh(laplacian[cut, cut] + torch.eye(D))
        root[cut, cut] = vectors @ torch.diag(values**-0.5) @ vectors.T
    return root @ laplacian @ root


@pytest.mark.parametrize("kind", LAPLACIANS)
def test_the_operator_is_the_normalised_square_of_the_coboundary(kind, pairs):
    maps = random_maps(kind, pairs)
    torch.testing.assert_close(
        as_matrix(LAPLACIANS[kind](maps, pairs)), dense_laplacian(maps, pairs)
    )


@pytest.mark.parametrize("kind", LAPLACIANS)
def test_the_sheaf_laplacian_is_symmetric_with_eigenvalues_between_zero_and_two(kind, pairs):
    matrix = as_matrix(LAPLACIANS[kind](random_maps(kind, pairs), pairs))
    torch.testing.assert_close(matrix, matrix.T)
    values = torch.linalg.eigvalsh(matrix)
    assert values.min() > -1e-12
    assert values.max() <= 2.0


@pytest.mark.parametrize("build", [diagonal_laplacian, orthogonal_laplacian, general_laplacian])
def test_the_trivial_sheaf_gives_the_normalised_laplacian_in_every_dimension(build, pairs):
    maps = torch.ones(D, 2, pairs.num_edges, dtype=torch.float64)
    if build is not diagonal_laplacian:
        maps = torch.diag_embed(maps.movedim(0, -1)).movedim((2, 3), (0, 1))
    matrix = as_matrix(build(maps, pairs)).view(N, D, N, D)
    closed = torch.eye(N, dtype=torch.float64)
    closed[pairs.rows, pairs.columns] = closed[pairs.columns, pairs.rows] = 1.0
    root = closed.sum(1).rsqrt()
    wanted = torch.eye(N, dtype=torch.float64) - root[:, None] * closed * root
    for a in range(D):
        for b in range(D):
            expected = wanted if a == b else torch.zeros_like(wanted)
            torch.testing.assert_close(matrix[:, a, :, b], expected, rtol=0, atol=1e-12)


def test_householder_products_are_orthogonal_for_every_dimension():
    for stalk in (2, 3, 5):
        entries = torch.randn(stalk * (stalk - 1) // 2, 4, dtype=torch.float64)
        turned = householder(entries, stalk).movedim(2, 0)
        eye = torch.eye(stalk, dtype=torch.float64).expand(4, -1, -1)
        torch.testing.assert_close(turned @ turned.mT, eye)


@pytest.mark.parametrize("size", [2, D])
def test_the_inverse_root_has_the_right_gradient_even_for_equal_eigenvalues(size):
    factor = torch.randn(4, size, size, dtype=torch.float64)
    eye = torch.eye(size, dtype=torch.float64)
    matrices = factor @ factor.mT + eye
    found = inverse_root(matrices)
    torch.testing.assert_close(found @ matrices @ found, eye.expand(4, -1, -1))

    def of_symmetric(entries):
        return inverse_root(0.5 * (entries + entries.mT))

    assert torch.autograd.gradcheck(of_symmetric, (matrices.requires_grad_(),))
    equal = (2.0 * eye).expand(1, -1, -1).clone().requires_grad_()
    inverse_root(equal).sum().backward()
    assert torch.isfinite(equal.grad).all()
