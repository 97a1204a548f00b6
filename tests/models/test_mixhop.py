from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_layer(d: Dense, hidden, name):
    return [
        torch.matrix_power(d.renormalized, power) @ hidden @ d.p[f"{name}.weight"][k]
        + d.p[f"{name}.bias"][k]
        for k, power in enumerate(d.options.powers)
    ]


def batch_norm(d: Dense, signal, name):
    centred = signal - signal.mean(0)
    scaled = centred / (centred.square().mean(0) + 1e-5).sqrt()
    return scaled * d.p[f"{name}.weight"] + d.p[f"{name}.bias"]


def dense_mixhop(d: Dense):
    state = KEPT * d.x
    for layer in range(d.options.depth - 1):
        joined = torch.cat(dense_layer(d, state, f"layers.{layer}"), 1)
        if d.options.batch_norm:
            joined = batch_norm(d, joined, f"norms.{layer}")
        state = KEPT * torch.relu(joined)
    groups = dense_layer(d, state, f"layers.{d.options.depth - 1}")
    if d.options.output == "linear":
        return d.linear(torch.cat(groups, 1), "output")
    shares = d.p["group_scores"].softmax(0)
    return sum(share * group for share, group in zip(shares, groups, strict=True))


@pytest.mark.parametrize(
    "options",
    [{}, {"depth": 3, "powers": (1, 3)}, {"batch_norm": True, "output": "linear", "depth": 3}],
    ids=str,
)
def test_outputs_and_gradients_equal_the_dense_transcription(options, monkeypatch):
    assert_equals_transcription("mixhop", dense_mixhop, monkeypatch, **options)


def test_power_zero_alone_never_sees_the_graph():
    graph = small_graph()
    _, inputs, model = build("mixhop", graph, powers=(0,), dropout=0.0)
    _, other, _ = build("mixhop", graph.replace(adjacency=graph.adjacency * 0), powers=(0,))
    assert torch.equal(model(inputs), model(other))


def test_a_layer_can_take_the_difference_of_hops():
    """Theorem 1: delta operators, here Â H - Â² H, are in reach of one layer."""
    graph = small_graph()
    _, inputs, model = build("mixhop", graph, powers=(1, 2), depth=1)
    layer = model.layers[0]
    with torch.no_grad():
        layer.weight[1] = -layer.weight[0]
        layer.bias.zero_()
    features = torch.randn(graph.num_nodes, graph.num_features, dtype=torch.float64)
    low = inputs.operator(features @ layer.weight[0])
    torch.testing.assert_close(layer(features, inputs.operator).sum(1), low - inputs.operator(low))


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="increasing"):
        MODELS["mixhop"].with_options(powers=(2, 1))
