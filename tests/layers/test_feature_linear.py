from __future__ import annotations

import math

import torch
from torch import nn

from heterophily.layers.feature_linear import FeatureLinear


def test_begin_like_torch_draws_what_a_linear_layer_of_torch_draws():
    torch.manual_seed(0)
    ours = FeatureLinear(400, 50, bias=True).begin_like_torch()
    theirs = nn.Linear(400, 50)
    bound = 1 / math.sqrt(400)
    for mine, other in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        assert mine.abs().max() <= bound
        assert mine.abs().max() > 0.9 * bound
        torch.testing.assert_close(mine.std(), other.std(), rtol=0.2, atol=0.0)


def test_a_bias_begins_at_zero_unless_asked_otherwise():
    assert not FeatureLinear(3, 2, bias=True).bias.any()
