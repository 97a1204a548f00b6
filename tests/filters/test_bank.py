"""One product serves every filter of a bank."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.errors import InputError, UnknownNameError
from heterophily.filters.bank import FilterBank
from heterophily.filters.filter import IDENTITY, Filter
from heterophily.filters.normalization import normalized_adjacency


@pytest.fixture
def ring() -> sp.csr_array:
    nodes = np.arange(7)
    ring = sp.csr_array((np.ones(7), (nodes, (nodes + 1) % 7)), shape=(7, 7))
    return sp.csr_array(ring + ring.T)


class Counting:
    """An operator that counts its products."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix, self.products, self.shape = matrix, 0, matrix.shape

    def __matmul__(self, signal: np.ndarray) -> np.ndarray:
        self.products += 1
        return self.matrix @ signal


def test_low_and_high_pass_outputs_add_up_to_the_signal(ring: sp.csr_array) -> None:
    signal = np.random.default_rng(0).normal(size=(7, 4))
    outputs = FilterBank.of(ring, kind="symmetric").apply(signal)
    np.testing.assert_allclose(outputs["low"] + outputs["high"], signal, atol=1e-15)
    np.testing.assert_array_equal(outputs["identity"], signal)


def test_every_filter_equals_its_dense_matrix(ring: sp.csr_array) -> None:
    filters = {"mixed": Filter(0.3, -2.0), "low": Filter(0.0, 1.0)}
    signal = np.random.default_rng(1).normal(size=7)
    dense = normalized_adjacency(ring).toarray()
    outputs = FilterBank.of(ring, filters=filters).apply(signal)
    np.testing.assert_allclose(outputs["mixed"], (0.3 * np.eye(7) - 2.0 * dense) @ signal)
    np.testing.assert_allclose(outputs["low"], dense @ signal)


def test_a_bank_needs_one_product_and_identity_alone_none(ring: sp.csr_array) -> None:
    operator = Counting(ring)
    FilterBank(operator).apply(np.ones(7))  # type: ignore[arg-type]
    assert operator.products == 1
    FilterBank(operator, {"identity": IDENTITY}).apply(np.ones(7))  # type: ignore[arg-type]
    assert operator.products == 1


def test_a_constant_signal_passes_low_and_stops_at_high(ring: sp.csr_array) -> None:
    bank = FilterBank.of(ring)
    np.testing.assert_allclose(bank.filter("low", np.ones(7)), 1.0)
    np.testing.assert_allclose(bank.filter("high", np.ones(7)), 0.0, atol=1e-15)


def test_mistakes_are_named(ring: sp.csr_array) -> None:
    bank = FilterBank.of(ring)
    with pytest.raises(InputError, match=r"shape \(6,\), expected \(7,\)"):
        bank.apply(np.ones(6))
    with pytest.raises(UnknownNameError, match="did you mean 'high'"):
        bank.filter("hihg", np.ones(7))
    with pytest.raises(InputError, match="at least one filter"):
        FilterBank.of(ring, filters={})
