from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dense_models import KEPT, Dense, assert_equals_transcription
from torch.nn.functional import elu

from heterophily.errors import InputError
from heterophily.layers.propagation import Propagation
from heterophily.layers.sheaf import fixed_laplacian
from heterophily.models.catalog import MODELS
from heterophily.models.sheaf_diffusion import pairs_of


def restriction_map(d: Dense, flat, v, u, k):
    """Eq. 5: the map of the end v of the edge between v and u."""
    first, second = d.p[f"layers.{k}.learner"]
    numbers, stalk = torch.tanh(flat[v] @ first + flat[u] @ second), d.options.stalk
    if d.options.maps == "diagonal":
        return torch.diag(numbers)
    if d.options.maps == "general":
        return numbers.view(stalk, stalk)
    turned, start = torch.eye(stalk, dtype=torch.float64), 0
    for place in range(stalk - 1):
        size = stalk - 1 - place
        vector = torch.cat(
            [torch.zeros(place), torch.ones(1), numbers[start : start + size]]
        ).double()
        start += size
        turned = turned @ (torch.eye(stalk) - 2 * torch.outer(vector, vector) / (vector @ vector))
    return turned


def inverse_root(matrix):
    """Denman-Beavers iteration: neither eigenvalues nor our own gradient."""
    root, inverse = matrix, torch.eye(len(matrix), dtype=matrix.dtype)
    for _ in range(12):
        root, inverse = (
            (root + torch.linalg.inv(inverse)) / 2,
            (inverse + torch.linalg.inv(root)) / 2,
        )
    return inverse


def dense_laplacian(d: Dense, flat, k):
    n, stalk = len(d.a), d.options.stalk
    blocks = [[torch.zeros(stalk, stalk).double() for _ in range(n)] for _ in range(n)]
    for v in range(n):
        for u in range(n):
            if d.a[v, u]:
                own, other = restriction_map(d, flat, v, u, k), restriction_map(d, flat, u, v, k)
                blocks[v][v] = blocks[v][v] + own.T @ own
                blocks[v][u] = -own.T @ other
    for sign in d.options.fixed_signs:
        for v in range(n):
            for u in range(n):
                fixed = d.a[v].sum() if v == u else -sign * d.a[v, u]
                blocks[v][u] = torch.block_diag(blocks[v][u], fixed.view(1, 1))
    laplacian = torch.cat([torch.cat(row, 1) for row in blocks])
    eye = torch.eye(d.options.dimensions)
    roots = [inverse_root(blocks[v][v] + eye) for v in range(n)]
    root = torch.block_diag(*roots)
    return root @ laplacian @ root


def dense_nsd(d: Dense):
    stalk, width = d.options.dimensions, d.options.hidden
    x = KEPT * elu(d.linear(KEPT * d.x, "input"))
    if d.options.second_linear:
        x = d.linear(x, "second")
    for k in range(d.options.depth):
        laplacian = dense_laplacian(d, x if k == 0 else KEPT * x, k)
        signal = KEPT * x.view(-1, stalk, width)
        signal = torch.einsum("ab,nbf->naf", d.p[f"layers.{k}.left"], signal)
        signal = signal @ d.p[f"layers.{k}.right"]
        moved = elu(laplacian @ signal.reshape(-1, width)).view(-1, stalk, width)
        scale = 1 + torch.tanh(d.p[f"layers.{k}.epsilon"])
        x = (scale * x.view(-1, stalk, width) - moved).flatten(1)
    return d.linear(x, "output")


@pytest.mark.parametrize("name", ["diag-nsd", "o(d)-nsd", "gen-nsd"])
def test_outputs_and_gradients_equal_the_dense_transcription(name, monkeypatch):
    assert_equals_transcription(name, dense_nsd, monkeypatch, hidden=4, stalk=3)


@pytest.mark.parametrize("name", ["diag-nsd", "gen-nsd"])
def test_fixed_passes_and_second_linear_equal_the_dense_transcription(name, monkeypatch):
    fixed = {"low_pass": True, "high_pass": True, "second_linear": True}
    assert_equals_transcription(name, dense_nsd, monkeypatch, hidden=3, stalk=2, **fixed)


def test_a_constant_signal_is_kept_by_the_fixed_low_pass_and_removed_by_the_high_pass():
    """On a regular graph: (D + A) / (d + 1) doubles what a constant has there, D - A gives 0."""
    ring = sp.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
    pairs = pairs_of(Propagation.from_scipy(ring))
    low, high = fixed_laplacian((-1.0, 1.0), pairs)(torch.ones(6, 2, 1)).squeeze(2).T
    torch.testing.assert_close(low, torch.full((6,), 4.0 / 3.0))
    torch.testing.assert_close(high, torch.zeros(6))


def test_the_maps_have_a_weight_decay_of_their_own():
    model = MODELS["diag-nsd"].build(num_nodes=4, num_features=3, num_classes=2)
    assert {id(p) for p in model.filter_coefficients} == {id(x.learner) for x in model.layers}


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="at least 2 dimensions"):
        MODELS["gen-nsd"].with_options(stalk=1)
    with pytest.raises(InputError, match="diagonal, orthogonal, general"):
        MODELS["diag-nsd"].with_options(maps="free")


def test_pairs_of_neighbours_are_the_same_whatever_the_direction_of_the_edges():
    directed = sp.csr_array(np.triu(np.roll(np.eye(6), 1, 0), -6) + np.eye(6))
    one, both = (
        pairs_of(Propagation.from_scipy(matrix)) for matrix in (directed, directed + directed.T)
    )
    assert one.num_edges == 6
    assert torch.equal(one.rows, both.rows)
    assert torch.equal(one.columns, both.columns)
