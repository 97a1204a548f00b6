from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_local(d: Dense):
    operator = d.eye if d.options.local == "mlp" else d.renormalized
    hidden = operator @ (KEPT * d.x) @ d.p["local.backbone.layers.0.weight"][0]
    return operator @ (KEPT * torch.relu(hidden)) @ d.p["local.backbone.layers.1.weight"][0]


def convolved(d: Dense, line, number):
    """A convolution over the line, written out: zeros beyond both ends."""
    weight, bias = (d.p[f"convolutions.{number}.{part}"] for part in ("weight", "bias"))
    half, length = weight.shape[2] // 2, len(line)
    padded = torch.cat([line.new_zeros(half, 3), line, line.new_zeros(half, 3)])
    steps = range(weight.shape[2])
    return sum(padded[k : k + length] @ weight[:, :, k].T for k in steps) + bias


def dense_nonlocal(d: Dense):
    z = dense_local(d)
    score = d.linear(z, "score")
    order = sorted(range(len(z)), key=lambda node: (score[node].item(), node))
    line = torch.stack([score[node] * z[node] for node in order])
    line = convolved(d, KEPT * torch.relu(convolved(d, line, 0)), 1)
    place = {node: k for k, node in enumerate(order)}
    z_hat = torch.stack([line[place[node]] for node in range(len(z))])
    return d.linear(torch.cat([z, z_hat], 1), "output")


@pytest.mark.parametrize("name", ["nlmlp", "nlgcn"])
def test_outputs_and_gradients_equal_the_dense_transcription(name, monkeypatch):
    assert_equals_transcription(name, dense_nonlocal, monkeypatch, kernel=3)


def test_the_gat_variant_shares_everything_but_the_local_embedding():
    _, inputs, model = build("nlgat", small_graph(), heads=2)
    _, _, other = build("nlmlp", small_graph())
    model.eval()
    others = {name: value for name, value in model.state_dict().items() if "local" not in name}
    other.load_state_dict(others, strict=False)
    local = model.local(inputs)
    torch.testing.assert_close(model.non_local(local), other.eval().non_local(local))


def test_a_node_hears_nodes_far_away_in_the_graph_that_score_alike():
    """Two components without an edge between them still exchange information."""
    graph = small_graph()
    graph = graph.replace(adjacency=graph.adjacency * 0)
    _, _, model = build("nlgcn", graph)
    local = torch.randn(graph.num_nodes, 3, dtype=torch.float64)
    first = int(model.score(local).squeeze(1).argsort()[0])
    changed = local.clone()
    changed[first] *= 1.01
    model.eval()
    moved = (model.non_local(changed) - model.non_local(local)).abs().sum(1) > 0
    assert 1 < int(moved.sum()) <= graph.num_nodes


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="must be odd"):
        MODELS["nlmlp"].with_options(kernel=4)
    with pytest.raises(InputError, match="mlp, gcn, gat"):
        MODELS["nlmlp"].with_options(local="sage")
    with pytest.raises(InputError, match="convolution_dropout=1"):
        MODELS["nlmlp"].with_options(convolution_dropout=1.0)


def test_the_score_does_not_begin_at_zero_for_small_embeddings():
    """The line holds score times embedding: a zero bias would silence it at the start."""
    torch.manual_seed(0)
    _, _, model = build("nlmlp", small_graph(), noise=0.0)
    with torch.no_grad():
        score = model.score(1e-6 * torch.randn(4, 3, dtype=torch.float64))
    assert score.abs().min() > 1e-3


def test_the_line_has_a_dropout_rate_of_its_own():
    _, _, model = build("nlmlp", small_graph(), dropout=0.5, convolution_dropout=0.0)
    local = torch.randn(len(small_graph().labels), 3, dtype=torch.float64)
    model.train()
    torch.testing.assert_close(model.non_local(local), model.non_local(local))
