from __future__ import annotations

import pytest
import torch
from torch.nn.functional import layer_norm

from heterophily.errors import InputError
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.mixing import MixRaw, row_statistics
from heterophily.layers.sum_mixer import SumMixer

N, H, K = 5, 4, 3


def channels():
    torch.manual_seed(0)
    return [torch.randn(N, H, dtype=torch.float64, requires_grad=True) for _ in range(K)]


@pytest.mark.parametrize("with_norm", [True, False], ids=["layer norm", "plain"])
@pytest.mark.parametrize("with_mix_weight", [True, False], ids=["W_mix", "no W_mix"])
def test_the_written_gradient_is_that_of_finite_differences(with_norm, with_mix_weight):
    parts = channels()
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64, requires_grad=True)  # noqa: E731
    vectors = make(K, H)
    mix_weight = make(K, K) if with_mix_weight else None
    gain, shift = (make(K, H), make(K, H)) if with_norm else (None, None)

    def function(*tensors):  # both outputs: the mixture and alpha
        return MixRaw.apply(2.5, 3.0, *tensors)

    assert torch.autograd.gradcheck(function, (vectors, mix_weight, gain, shift, *parts))


def test_the_gradient_of_the_weights_alone_reaches_the_channels():
    mixer = AdaptiveMixer(H, K).double()
    parts, weights = channels(), []
    mixer(parts, weights)
    weights[0][:, 0].sum().backward()
    assert all(part.grad.abs().sum() > 0 for part in parts)


def test_weights_are_positive_and_sum_to_one_in_each_node():
    weights = []
    AdaptiveMixer(H, K).double()(channels(), weights)
    assert weights[0].shape == (N, K)
    assert (weights[0] > 0).all()
    torch.testing.assert_close(weights[0].sum(1), torch.ones(N, dtype=torch.float64))


def test_equal_channels_mix_to_themselves():
    (part, *_) = channels()
    mixer = AdaptiveMixer(H, K).double()
    torch.testing.assert_close(mixer([part] * K), part)


def test_zero_vectors_give_the_mean_of_the_channels_times_the_scale():
    mixer = AdaptiveMixer(H, K, use_mix_weight=False, scale=3.0).double()
    torch.nn.init.zeros_(mixer.vectors)
    parts = channels()
    torch.testing.assert_close(mixer(parts), sum(parts))
    torch.testing.assert_close(SumMixer()(parts), sum(parts))


def test_row_statistics_are_those_of_layer_norm_also_where_digits_cancel():
    rows = torch.randn(6, 64)
    rows[0] = 1000.0 + 0.1 * rows[0]  # the mean is 10,000 standard deviations away from 0
    rows[1] = 0.0
    rows[2] = 7.0
    mean, inverse_std = row_statistics(rows)
    exact = rows.double()
    expected = torch.rsqrt(exact.var(1, correction=0) + 1e-5)
    torch.testing.assert_close(mean.double(), exact.mean(1), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(inverse_std.double(), expected, rtol=1e-4, atol=0)


def test_scores_with_layer_norm_do_not_change_when_a_channel_is_scaled_and_shifted():
    mixer = AdaptiveMixer(H, K, use_layer_norm=True).double()
    parts, before, after = channels(), [], []
    mixer(parts, before)
    mixer([1e4 * part + 3.0 for part in parts], after)
    mixer([1e5 * part for part in parts], other := [])
    torch.testing.assert_close(other[0], after[0], rtol=1e-6, atol=1e-8)
    expected = [
        torch.sigmoid(layer_norm(part, (H,)) @ vector)
        for part, vector in zip(parts, mixer.vectors, strict=True)
    ]
    logits = torch.cat(expected, 1) / K @ mixer.mix_weight
    torch.testing.assert_close(before[0], torch.softmax(logits, 1))


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="choose raw or combined"):
        AdaptiveMixer(H, K, features="mixed")
    with pytest.raises(InputError, match="temperature=0"):
        AdaptiveMixer(H, K, temperature=0)
