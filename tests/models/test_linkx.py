from __future__ import annotations

import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph


def batch_norm(d: Dense, signal, name):
    centred = signal - signal.mean(0)
    spread = ((centred**2).mean(0) + 1e-5) ** 0.5
    return centred / spread * d.p[f"{name}.weight"] + d.p[f"{name}.bias"]


def dense_mlp(d: Dense, signal, name, depth):
    output = d.linear(signal, f"{name}.maps.0")
    for k in range(1, depth):
        output = batch_norm(d, torch.relu(output), f"{name}.norms.{k - 1}")
        output = d.linear(KEPT * output, f"{name}.maps.{k}")
    return output


def dense_linkx(d: Dense):
    h_a = d.a @ d.p["structure_weight"] + d.p["structure_bias"]
    h_x = dense_mlp(d, d.x, "features", d.options.feature_depth)
    joined = d.linear(h_a, "join_structure") + d.linear(h_x, "join_features")
    return dense_mlp(d, torch.relu(joined + h_a + h_x), "output", d.options.depth)


def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch):
    assert_equals_transcription("linkx", dense_linkx, monkeypatch, depth=3, feature_depth=2)


def test_without_the_structure_weight_it_is_a_perceptron_on_the_features():
    graph = small_graph()
    _, inputs, model = build("linkx", graph)
    with torch.no_grad():
        model.structure_weight.zero_()
    model.eval()
    _, others, _ = build("linkx", graph.replace(adjacency=graph.adjacency * 0))
    assert torch.equal(model(inputs), model(others))
