"""Values and gradients of the kernels on pairs of neighbours equal those of plain indexing."""

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
)

N, D, K = 7, 3, 4


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((N, N)) < 0.5, 1)
    upper[:, N - 1] = False  # the last node is isolated
    return edges_of(Propagation.from_scipy(sp.csr_array(upper * 1.0), dtype=torch.float64))


def normal(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def both_ways(pairs):
    """The ends of the edges in both directions: first all that rows receive, then columns."""
    rows, columns = pairs.rows, pairs.columns
    return torch.cat([rows, columns]), torch.cat([columns, rows])


def whole(maps):
    """Maps of the receiving ends as matrices, (2 P, d, d), edges as in ``both_ways``."""
    if maps.ndim == 3:
        return torch.diag_embed(maps.flatten(1).t())
    return maps.flatten(2).movedim(2, 0)


def assert_same(ours, plain, *arguments):
    torch.testing.assert_close(ours, plain, rtol=0, atol=1e-9)
    pull = torch.randn_like(plain)
    pairs = (torch.autograd.grad((found * pull).sum(), arguments) for found in (ours, plain))
    for one, other in zip(*pairs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_every_map_sees_both_ends_through_tanh(pairs):
    received, sent = normal(N, 2), normal(N, 3)[:, :2].detach().requires_grad_()
    receiver, sender = both_ways(pairs)
    plain = torch.tanh(received[receiver] + sent[sender]).t().unflatten(1, (2, -1))
    assert_same(maps_of_ends(received, sent, pairs), plain, received, sent)


@pytest.mark.parametrize("shape", [(D,), (D, D)])
def test_signals_travel_through_both_maps_of_an_edge(pairs, shape):
    maps, signal = normal(*shape, 2, pairs.num_edges), normal(N, D, K)
    receiver, sender = both_ways(pairs)
    blocks = whole(maps)
    other = blocks.roll(pairs.num_edges, 0)  # of the end that sends
    messages = blocks.mT @ other @ signal[sender]
    plain = torch.zeros(N, D, K, dtype=torch.float64).index_add(0, receiver, messages)
    assert_same(transported(maps, signal, pairs), plain, maps, signal)


@pytest.mark.parametrize("shape", [(D,), (D, D)])
def test_degrees_are_the_sums_of_squared_maps(pairs, shape):
    maps = normal(*shape, 2, pairs.num_edges)
    blocks = whole(maps)
    squares = torch.zeros(N, D, D, dtype=torch.float64)
    plain = squares.index_add(0, both_ways(pairs)[0], blocks.mT @ blocks)
    if len(shape) == 1:
        plain = plain.diagonal(dim1=1, dim2=2)
    assert_same(own_products(maps, pairs), plain, maps)


@pytest.mark.parametrize("count", [N, 1])
def test_blocks_multiply_like_small_matrices(count):
    blocks, signal = normal(count, D, D), normal(N, D, K)
    assert_same(blocks_times(blocks, signal), blocks @ signal, blocks, signal)
