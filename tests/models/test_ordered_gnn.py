from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, random_walk, small_graph
from torch.nn.functional import layer_norm

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_ordered(d: Dense):
    def norm(state, name):
        return layer_norm(state, (state.shape[1],), d.p[f"{name}.weight"], d.p[f"{name}.bias"])

    state = norm(torch.relu(d.linear(d.x, "input")), "input_norm")
    gate = torch.zeros(len(d.a), 1).double()
    for k in range(d.options.depth):
        state = KEPT * state
        message = random_walk(d.a) @ state
        maps = 0 if d.options.shares_gate else k
        raw = d.linear(torch.cat([state, message], 1), f"gate_maps.{maps}").softmax(1)
        cumulated = torch.stack([raw[:, : j + 1].sum(1) for j in range(raw.shape[1])], 1)
        gate = 1 - (1 - gate) * (1 - cumulated)
        kept = torch.stack([gate[:, j // 2] for j in range(6)], 1)
        state = norm(kept * state + (1 - kept) * message, f"norms.{k}")
    return d.linear(KEPT * state, "output")


@pytest.mark.parametrize("shares_gate", [True, False])
def test_outputs_and_gradients_equal_the_dense_transcription(shares_gate, monkeypatch):
    options = {"hidden": 6, "gates": 3, "depth": 3, "shares_gate": shares_gate}
    assert_equals_transcription("orderedgnn", dense_ordered, monkeypatch, **options)


def test_gates_grow_along_the_columns_and_along_the_layers():
    _, inputs, model = build("orderedgnn", small_graph())
    state = torch.randn(inputs.num_nodes, 5).double()
    message = inputs.operator(state)
    first = model.next_gate(0, state, message, 0.0)
    second = model.next_gate(1, state, message, first)
    assert (first.diff(dim=1) >= 0).all()
    assert (second >= first - 1e-12).all()
    torch.testing.assert_close(second[:, -1], torch.ones(inputs.num_nodes).double())


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="hidden=64 cannot be divided among gates=7"):
        MODELS["orderedgnn"].with_options(gates=7)
