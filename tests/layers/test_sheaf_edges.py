"""Values and gradients of the kernels along edges equal those of plain indexing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.layers.edges import edges_of
from heterophily.layers.propagation import Propagation
from heterophily.layers.sheaf_edges import (
    blocks_times,
    maps_of_ends,
    own_products,
    transported,
    turned_around,
)

N, D, K = 7, 3, 4


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((N, N)) < 0.5, 1)
    upper[:, N - 1] = False  # the last node is isolated
    pattern = sp.csr_array((upper | upper.T).astype(float))
    return edges_of(Propagation.from_scipy(pattern, dtype=torch.float64))


def normal(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def other_direction(edges):
    places = {pair: k for k, pair in enumerate(ends(edges))}
    return [places[column, row] for row, column in ends(edges)]


def ends(edges):
    return list(zip(edges.rows.tolist(), edges.columns.tolist(), strict=True))


def whole(maps):
    """Maps as matrices, (E, d, d)."""
    return torch.diag_embed(maps.t()) if maps.ndim == 2 else maps.movedim(2, 0)


def assert_same(ours, plain, *arguments):
    torch.testing.assert_close(ours, plain, rtol=0, atol=1e-9)
    pull = torch.randn_like(plain)
    pairs = (torch.autograd.grad((found * pull).sum(), arguments) for found in (ours, plain))
    for one, other in zip(*pairs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_every_edge_sees_both_its_ends_through_tanh(edges):
    received, sent = normal(N, 2), normal(N, 2).detach().mul(0.5).requires_grad_()
    plain = torch.tanh(received[edges.rows] + sent[edges.columns]).t()
    assert_same(maps_of_ends(received, sent, edges), plain, received, sent)


def test_turning_edges_around_finds_the_other_direction_and_twice_is_nothing(edges):
    maps = normal(D, edges.num_edges).detach()
    torch.testing.assert_close(turned_around(maps, edges), maps[:, other_direction(edges)])
    torch.testing.assert_close(turned_around(turned_around(maps, edges), edges), maps)


@pytest.mark.parametrize("shape", [(D,), (D, D)])
def test_signals_travel_through_both_maps_of_an_edge(edges, shape):
    maps, signal = normal(*shape, edges.num_edges), normal(N, D, K)
    blocks = whole(maps)
    messages = blocks.mT @ blocks[other_direction(edges)] @ signal[edges.columns]
    plain = torch.zeros(N, D, K, dtype=torch.float64).index_add(0, edges.rows, messages)
    assert_same(transported(maps, signal, edges), plain, maps, signal)


@pytest.mark.parametrize("shape", [(D,), (D, D)])
def test_degrees_are_the_sums_of_squared_maps(edges, shape):
    maps = normal(*shape, edges.num_edges)
    blocks = whole(maps)
    squares = torch.zeros(N, D, D, dtype=torch.float64)
    plain = squares.index_add(0, edges.rows, blocks.mT @ blocks)
    if len(shape) == 1:
        plain = plain.diagonal(dim1=1, dim2=2)
    assert_same(own_products(maps, edges), plain, maps)


@pytest.mark.parametrize("count", [N, 1])
def test_blocks_multiply_like_small_matrices(count):
    blocks, signal = normal(count, D, D), normal(N, D, K)
    assert_same(blocks_times(blocks, signal), blocks @ signal, blocks, signal)
