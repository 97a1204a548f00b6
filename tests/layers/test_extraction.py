from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.errors import InputError, UnknownNameError
from heterophily.filters.filter import Filter
from heterophily.layers.channel import ORDERS, Channel, resolve_channels
from heterophily.layers.extraction import extract, filter_signal
from heterophily.layers.propagation import Propagation

OWN = Channel(Filter(0.5, 2.0), hops=2)


@pytest.fixture
def operator():
    matrix = sp.random_array((6, 6), density=0.5, format="csr", rng=np.random.default_rng(2))
    return Propagation.from_scipy(matrix, dtype=torch.float64)


def test_low_and_high_pass_add_up_to_identity(operator):
    signal = torch.randn(6, 4, dtype=torch.float64)
    low, high, identity = extract(
        [signal] * 3, resolve_channels(["low", "high", "identity"]), operator, activate=False
    )
    torch.testing.assert_close(low + high, identity)
    assert not torch.allclose(low, identity)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("activate", [True, False])
@pytest.mark.parametrize("width", [2, 40], ids=["narrow", "wide"])
def test_the_gradient_is_that_of_finite_differences(operator, order, activate, width):
    channels = resolve_channels(["low", "high", "identity", OWN])
    signals = [torch.randn(6, width, dtype=torch.float64, requires_grad=True) for _ in channels]

    def function(*parts):
        return extract(parts, channels, operator, order=order, activate=activate)

    assert torch.autograd.gradcheck(function, tuple(signals), fast_mode=width > 10)


def test_own_filters_are_a_identity_plus_b_powers_of_the_operator(operator):
    signal = torch.randn(6, 3, dtype=torch.float64)
    dense = operator.matrix @ torch.eye(6, dtype=torch.float64)
    expected = 0.5 * signal + 2.0 * (dense @ dense @ signal)
    (found,) = extract([signal], [OWN], operator, activate=False)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(filter_signal(signal, [OWN], operator)[0], expected)


def test_no_product_is_made_for_channels_that_do_not_aggregate():
    class Refusing(Propagation):
        def __init__(self):
            pass

        def forward_all(self, signals):
            raise AssertionError

    signal = torch.tensor([[1.0], [-1.0]])
    (found,) = extract([signal], resolve_channels(["identity"]), Refusing())
    assert found.flatten().tolist() == [1.0, 0.0]


def test_the_input_is_left_as_it_was(operator):
    signal = -torch.ones(6, 2, dtype=torch.float64)
    with torch.no_grad():
        extract([signal] * 2, resolve_channels(["identity", "high"]), operator)
    assert torch.equal(signal, -torch.ones(6, 2, dtype=torch.float64))


def test_unknown_and_missing_channels_are_refused():
    with pytest.raises(UnknownNameError, match="unknown channel 'hihg'; did you mean 'high'"):
        resolve_channels(["hihg"])
    with pytest.raises(InputError, match="at least one channel"):
        resolve_channels([])
    with pytest.raises(InputError, match="sequence of names"):
        resolve_channels("low")
    with pytest.raises(InputError, match="twice"):
        resolve_channels(["structure", "structure"])
    with pytest.raises(InputError, match="hops=0"):
        Channel(Filter(0.0, 1.0), hops=0)
