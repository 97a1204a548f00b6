from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.layers.edges import edges_of
from heterophily.models.catalog import MODELS


def dense_fagcn(d: Dense):
    initial = state = KEPT * torch.relu(d.linear(KEPT * d.x, "input"))
    for k in range(d.options.depth):
        g_1, g_2 = d.p[f"layers.{k}.receiver"], d.p[f"layers.{k}.sender"]
        alpha = torch.tanh(state @ g_1 + (state @ g_2).T)
        state = d.options.epsilon * initial + (KEPT * alpha * d.symmetric) @ state
    return d.linear(state, "output")


def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch):
    assert_equals_transcription("fagcn", dense_fagcn, monkeypatch, depth=3, epsilon=0.4)


def test_coefficients_lie_between_minus_one_and_one_and_take_both_signs():
    _, inputs, model = build("fagcn", small_graph())
    state = torch.randn(inputs.num_nodes, 5, dtype=torch.float64)
    alpha = model.layers[0].coefficients(state, edges_of(inputs.operator))
    assert alpha.abs().max() <= 1.0
    assert alpha.min() < 0 < alpha.max()


@pytest.mark.parametrize(("sign", "name"), [(1.0, "low"), (-1.0, "high")])
def test_saturated_coefficients_are_the_low_and_the_high_pass_filter(sign, name):
    """alpha = 1 gives eps I + A_sym, alpha = -1 gives eps I - A_sym."""
    _, inputs, model = build("fagcn", small_graph(), dropout=0.0)
    layer = model.layers[0]
    with torch.no_grad():
        layer.receiver.fill_(sign * 100)
        layer.sender.fill_(0.0)
    state = 1.0 + torch.rand(inputs.num_nodes, 5, dtype=torch.float64)
    wanted = layer.epsilon * state + sign * inputs.operator(state)
    torch.testing.assert_close(layer(state, state, edges_of(inputs.operator)), wanted)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match=r"epsilon=1\.5"):
        MODELS["fagcn"].with_options(epsilon=1.5)
