from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.layers.derived import derived
from heterophily.layers.edges import (
    edge_softmax,
    edges_of,
    inner_products,
    to_columns,
    to_rows,
    weighted_sum,
)
from heterophily.layers.propagation import Propagation


@pytest.fixture(scope="module")
def operator() -> Propagation:
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((9, 9)) < 0.3, rng.normal(size=(9, 9)), 0.0)
    matrix[4] = 0.0  # a node without edges
    return Propagation.from_scipy(sp.csr_array(matrix), dtype=torch.float64)


def dense(operator, weights):
    edges = edges_of(operator)
    matrix = torch.zeros(9, 9, dtype=torch.float64)
    return matrix.index_put((edges.rows, edges.columns), weights)


def test_weighted_sum_is_the_product_with_a_matrix_of_learned_values(operator):
    edges = edges_of(operator)
    weights = torch.randn(edges.num_edges, 2, dtype=torch.float64, requires_grad=True)
    signal = torch.randn(9, 2, 3, dtype=torch.float64, requires_grad=True)
    found = weighted_sum(weights, signal, edges)
    wanted = torch.stack([dense(operator, weights[:, k]) @ signal[:, k] for k in (0, 1)], 1)
    torch.testing.assert_close(found, wanted)
    pull = torch.randn_like(found)
    for one, other in zip(
        torch.autograd.grad((found * pull).sum(), (weights, signal)),
        torch.autograd.grad((wanted * pull).sum(), (weights, signal)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_softmax_sums_to_one_over_each_row_and_has_the_right_gradient(operator):
    edges = edges_of(operator)
    scores = torch.randn(edges.num_edges, 2, dtype=torch.float64, requires_grad=True)
    weights = edge_softmax(scores, edges)
    has_edges = edges.matrix.indptr.diff() > 0
    torch.testing.assert_close(
        edges.row_sums(weights), has_edges.double()[:, None].expand(-1, 2).contiguous()
    )
    assert torch.autograd.gradcheck(lambda s: edge_softmax(s, edges), (scores,))


def test_softmax_survives_scores_of_any_size(operator):
    edges = edges_of(operator)
    scores = torch.linspace(-1e5, 1e5, edges.num_edges, dtype=torch.float64)[:, None]
    weights = edge_softmax(scores, edges)
    assert torch.isfinite(weights).all()
    torch.testing.assert_close(weights, edge_softmax(scores - 1e6, edges))


def test_gathers_and_totals_have_the_right_gradients(operator):
    edges = edges_of(operator)
    signal = torch.randn(9, 2, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(to_rows(signal, edges), signal[edges.rows])
    torch.testing.assert_close(to_columns(signal, edges), signal[edges.columns])
    assert torch.autograd.gradcheck(lambda s: to_rows(s, edges), (signal,))
    assert torch.autograd.gradcheck(lambda s: to_columns(s, edges), (signal,))


def test_inner_products_are_those_of_the_ends_and_have_the_right_gradients(operator):
    edges = edges_of(operator)
    left = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    right = torch.randn(9, 3, dtype=torch.float64, requires_grad=True)
    wanted = (left[edges.rows] * right[edges.columns]).sum(1)
    torch.testing.assert_close(inner_products(left, right, edges), wanted)
    assert torch.autograd.gradcheck(lambda a, b: inner_products(a, b, edges), (left, right))


class Answer:
    pass


def test_what_is_derived_lives_as_long_as_its_operator():
    made = []
    count = derived(lambda operator: made.append(1) or Answer())
    one = Propagation.from_scipy(sp.eye_array(3, format="csr"))
    two = Propagation.from_scipy(sp.eye_array(3, format="csr"))
    assert count(one) is count(one)
    assert count(one) is not count(two)
    assert len(made) == 2
    gone = weakref.ref(count(one))
    del one
    gc.collect()
    assert gone() is None
