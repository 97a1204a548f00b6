from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.errors import InputError
from heterophily.layers.propagation import Propagation


def operator(seed=0):
    matrix = sp.random_array((6, 6), density=0.4, format="csr", rng=np.random.default_rng(seed))
    return Propagation.from_scipy(matrix, dtype=torch.float64), torch.from_numpy(matrix.toarray())


def test_the_gradient_is_that_of_finite_differences():
    propagate, _ = operator()
    signal = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(propagate, (signal,))


@pytest.mark.parametrize("widths", [(2, 3), (60, 70)], ids=["one block", "one by one"])
def test_several_signals_give_what_each_gives_alone(widths):
    propagate, dense = operator()
    signals = [torch.randn(6, width, dtype=torch.float64) for width in widths]
    for found, signal in zip(propagate.forward_all(signals), signals, strict=True):
        torch.testing.assert_close(found, dense @ signal)
    for found, signal in zip(propagate.backward_all(signals), signals, strict=True):
        torch.testing.assert_close(found, dense.T @ signal)


def test_an_operator_must_be_square():
    with pytest.raises(InputError, match=r"square, got shape \(2, 3\)"):
        Propagation.from_scipy(sp.csr_array(np.ones((2, 3))))


def test_it_can_be_differentiated_twice():
    propagate, _ = operator()
    signal = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda given: propagate(given).square(), (signal,))
