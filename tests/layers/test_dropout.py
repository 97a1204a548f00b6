from __future__ import annotations

import pytest
import torch

from heterophily.errors import InputError
from heterophily.layers.dropout import check_rate, dropout


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.6, 0.9])
def test_the_share_of_dropped_entries_is_the_rate_and_the_mean_is_kept(rate):
    torch.manual_seed(0)
    count = 400_000
    kept = dropout(torch.ones(count), rate, training=True)
    is_kept = kept != 0
    four_sigma = 4 * (rate * (1 - rate) / count) ** 0.5
    assert abs(1 - is_kept.double().mean().item() - rate) < four_sigma
    assert kept[is_kept].unique().numel() == 1
    assert kept[is_kept][0].item() == pytest.approx(1 / (1 - rate), rel=1e-4)


def test_neighbouring_entries_are_dropped_independently():
    torch.manual_seed(1)
    kept = (dropout(torch.ones(400_000), 0.5, training=True) != 0).double()
    for lag in (1, 2, 3, 4, 5, 8):
        both = (kept[:-lag] * kept[lag:]).mean().item()
        assert abs(both - 0.25) < 4 * (0.1875 / 400_000) ** 0.5


def test_the_same_seed_drops_the_same_entries_and_the_next_call_drops_others():
    values = torch.ones(50, 3)
    torch.manual_seed(5)
    first, second = (dropout(values, 0.5, training=True) for _ in range(2))
    torch.manual_seed(5)
    assert torch.equal(first, dropout(values, 0.5, training=True))
    assert not torch.equal(first, second)


def test_the_gradient_passes_through_kept_entries_only():
    values = torch.ones(100, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    kept = dropout(values, 0.5, training=True)
    kept.sum().backward()
    assert torch.equal(values.grad, kept.detach())


def test_a_rate_too_small_to_round_drops_nothing():
    assert torch.equal(dropout(torch.ones(10), 1e-9, training=True), torch.ones(10))


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_outside_the_unit_interval_is_refused(rate):
    with pytest.raises(InputError, match="at least 0 and below 1"):
        check_rate(rate)
