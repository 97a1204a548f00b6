from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.layers.sparse_features import SparseFeatures


@pytest.fixture
def matrix():
    return sp.random_array((8, 5), density=0.5, format="csr", rng=np.random.default_rng(1))


@pytest.mark.parametrize("shape", [(3, 5, 4), (1, 5, 4), (2, 5, 40)])
def test_stacked_products_have_the_gradient_of_finite_differences(matrix, shape):
    features = SparseFeatures.from_scipy(matrix, dtype=torch.float64)
    weight = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    dense = torch.from_numpy(matrix.toarray())
    for product, panel in zip(features.products(weight), weight, strict=True):
        torch.testing.assert_close(product, dense @ panel)
    if shape[2] < 10:
        assert torch.autograd.gradcheck(features.products, (weight,))


def test_dropout_keeps_zeros_and_scales_or_drops_every_nonzero(matrix):
    features = SparseFeatures.from_scipy(matrix, dtype=torch.float64)
    torch.manual_seed(0)
    dropped = features.dropout(0.25, training=True)
    ratio = dropped.matrix.values / features.matrix.values
    assert set(ratio.round(decimals=9).tolist()) == {0.0, round(4 / 3, 9)}


def test_forward_and_backward_see_the_same_dropped_entries(matrix):
    features = SparseFeatures.from_scipy(matrix, dtype=torch.float64)
    torch.manual_seed(0)
    dropped = features.dropout(0.5, training=True)
    forward = dropped.matrix @ torch.eye(5, dtype=torch.float64)
    backward = dropped.matrix.transpose_product(torch.eye(8, dtype=torch.float64))
    torch.testing.assert_close(forward, backward.T, rtol=0, atol=0)
    assert not torch.equal(forward, torch.from_numpy(matrix.toarray()))


def test_nothing_is_dropped_in_evaluation(matrix):
    features = SparseFeatures.from_scipy(matrix)
    assert features.dropout(0.5, training=False) is features
    assert features.dropout(0.0, training=True) is features
