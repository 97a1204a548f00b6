from __future__ import annotations

import numpy as np
import pytest
import torch
from dense_models import C, N, build, dense_of, random_walk, small_graph
from torch.nn.functional import gelu, layer_norm

from heterophily.data.graph import Graph

UNDIRECTED = {"dir-gcn": "res-gcn", "dir-sage": "res-sage", "dir-acm": "res-acm"}


def one_way_graph() -> Graph:
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, N - 1, size=(2, 30))
    return Graph.from_edges(
        source,
        target,
        features=rng.normal(size=(N, 4)),
        labels=rng.integers(0, C, size=N),
        num_nodes=N,
        direction="keep",
    )


def both_ways(a, *, kind):
    if kind == "walk":
        return random_walk(a), random_walk(a.T)
    rows, columns = a.sum(1).clamp(min=1e-300), a.sum(0).clamp(min=1e-300)
    scaled = a * rows[:, None] ** -0.5 * columns[None, :] ** -0.5
    return scaled, scaled.T


def dense_convolution(d, state, name):
    if d.options.convolution == "dir-gcn":
        return torch.cat([m @ state for m in both_ways(d.a + d.eye, kind="symmetric")], 1)
    if d.options.convolution == "dir-sage":
        return torch.cat([state, *(m @ state for m in both_ways(d.a, kind="walk"))], 1)
    there, back = both_ways(d.a + d.eye, kind="walk")
    filters = (there, d.eye - there, back, d.eye - back, d.eye)
    weights, vectors = d.p[f"{name}.weight"], d.p[f"{name}.vectors"]
    channels = [torch.relu(f @ state @ w) for f, w in zip(filters, weights, strict=True)]
    scores = torch.cat([h @ v for h, v in zip(channels, vectors, strict=True)], 1).sigmoid()
    alpha = (scores / 5 @ d.p[f"{name}.mix_weight"]).softmax(1)
    return sum(alpha[:, k : k + 1] * channel for k, channel in enumerate(channels))


@pytest.mark.parametrize("name", UNDIRECTED)
def test_outputs_and_gradients_on_a_directed_graph_equal_the_dense_transcription(name):
    graph = one_way_graph()
    spec, inputs, model = build(name, graph, dropout=0.0, depth=1)
    d = dense_of(graph, spec, model)

    def normed(state, title):
        return layer_norm(state, (5,), d.p[f"{title}.weight"], d.p[f"{title}.bias"])

    state = gelu(d.linear(d.x, "backbone.input"))
    block = "backbone.blocks.0"
    gathered = dense_convolution(d, normed(state, f"{block}.norm"), f"{block}.convolution")
    inner = gelu(d.linear(gathered, f"{block}.feed_forward.first"))
    state = state + d.linear(inner, f"{block}.feed_forward.second")
    wanted = d.linear(normed(state, "backbone.norm"), "backbone.output")
    logits = model(inputs)
    torch.testing.assert_close(logits, wanted)
    pull = torch.randn_like(logits)
    parameters = list(model.parameters())
    found = torch.autograd.grad((logits * pull).sum(), parameters)
    for one, other in zip(
        found, torch.autograd.grad((wanted * pull).sum(), parameters), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)


def merged_state(name, state):
    """Return the parameters of the undirected model that does the same on an undirected graph."""
    merge = torch.tensor([[0.5, 0, 0.5, 0, 0], [0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 1]]).double()
    merged = {}
    for title, value in state.items():
        parts = value.split(5) if title.endswith("feed_forward.first.weight") else ()
        if name == "dir-gcn" and parts:
            merged[title] = parts[0] + parts[1]
        elif name == "dir-sage" and parts:
            merged[title] = torch.cat([parts[0], parts[1] + parts[2]])
        elif title.endswith("convolution.weight"):
            moved = title.replace("convolution.weight", "convolution.layer.weight")
            merged[moved] = torch.einsum("ck,kij->cij", merge, value)
        elif title.endswith("convolution.vectors"):
            moved = title.replace("convolution.", "convolution.layer.mixer.")
            merged[moved] = torch.einsum("ck,kij->cij", merge, value)
        elif title.endswith("convolution.mix_weight"):
            merged[title.replace("convolution.", "convolution.layer.mixer.")] = (
                merge @ value @ merge.T
            )
        else:
            merged[title] = value
    return merged


@pytest.mark.parametrize(("name", "twin"), UNDIRECTED.items())
def test_an_undirected_graph_gives_exactly_the_undirected_model(name, twin):
    graph = small_graph()
    _, inputs, model = build(name, graph, dropout=0.0)
    _, plain_inputs, plain = build(twin, graph, dropout=0.0)
    plain.load_state_dict(merged_state(name, model.state_dict()))
    torch.testing.assert_close(model(inputs), plain(plain_inputs), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(
        model.channel_weights(inputs), plain.channel_weights(plain_inputs), strict=True
    ):
        assert ours.shape == (N, 5)
        merged = torch.stack([ours[:, 0] + ours[:, 2], ours[:, 1] + ours[:, 3], ours[:, 4]], 1)
        torch.testing.assert_close(merged, theirs)


@pytest.mark.parametrize("name", UNDIRECTED)
def test_turning_all_edges_round_changes_the_answer(name):
    graph = one_way_graph()
    _, inputs, model = build(name, graph, dropout=0.0)
    turned = graph.replace(adjacency=graph.adjacency.T.tocsr())
    _, other, _ = build(name, turned)
    assert not torch.allclose(model(inputs), model(other))


@pytest.mark.parametrize("name", UNDIRECTED)
def test_every_parameter_has_a_gradient_on_a_directed_graph_too(name):
    _, inputs, model = build(name, one_way_graph(), dropout=0.0)
    model(inputs).square().sum().backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())
