from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn.functional import leaky_relu

from heterophily.layers.edges import edges_of
from heterophily.layers.propagation import Propagation
from heterophily.layers.relation_attention import relation_attention

N = 8


def relation():
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random((N, N)) < 0.4, rng.random((N, N)), 0.0)
    matrix[2] = 0.0  # hears nobody
    return matrix


def test_attention_is_the_weighted_softmax_of_the_dense_scores_with_its_gradient():
    matrix = torch.from_numpy(relation())
    edges = edges_of(Propagation.from_scipy(sp.csr_array(relation()), dtype=torch.float64))
    hidden = torch.randn(N, 3, dtype=torch.float64, requires_grad=True)
    ends = torch.randn(2, N, 1, dtype=torch.float64, requires_grad=True)
    ours = relation_attention(hidden, ends[0], ends[1], edges.values.unsqueeze(1), edges)
    scores = leaky_relu(ends[0] + ends[1].T, 0.2).masked_fill(matrix == 0, -torch.inf)
    dense = (torch.nan_to_num(scores.softmax(1)) * matrix) @ hidden
    torch.testing.assert_close(ours, dense, rtol=0, atol=1e-9)
    pull = torch.randn_like(dense)
    pairs = (torch.autograd.grad((found * pull).sum(), (hidden, ends)) for found in (ours, dense))
    for one, other in zip(*pairs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_scores_of_any_size_give_shares_that_add_up_to_one():
    edges = edges_of(Propagation.from_scipy(sp.csr_array(relation()), dtype=torch.float64))
    ends = torch.linspace(-1e5, 1e5, N, dtype=torch.float64).unsqueeze(1)
    factors = torch.ones(edges.num_edges, 1, dtype=torch.float64)
    sums = relation_attention(torch.ones_like(ends), ends, ends.flip(0), factors, edges)
    has_edges = edges.matrix.indptr.diff() > 0
    torch.testing.assert_close(sums.squeeze(1), has_edges.double())
