from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph
from torch.nn.functional import cosine_similarity, elu, softplus

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.edges import edges_of
from heterophily.layers.propagation import Propagation
from heterophily.models.catalog import MODELS
from heterophily.models.ggcn import GgcnLayer


def dense_layer(d: Dense, hidden, name):
    mapped = d.linear(hidden, f"{name}.linear")
    likeness = cosine_similarity(mapped[:, None], mapped[None], dim=2) * (1 - d.eye)
    degree = (d.a + d.eye).sum(1)
    ratio = (degree[None, :] / degree[:, None]).sqrt() - 1
    lambda_0, lambda_1 = d.p[f"{name}.degree"]
    correction = softplus(lambda_0 * ratio + lambda_1)
    own, positive, negative = d.p[f"{name}.shares"].softmax(0)
    messages = positive * (likeness.clamp(min=0) * d.renormalized * correction) @ mapped
    messages = messages + negative * (likeness.clamp(max=0) * d.renormalized * correction) @ mapped
    return softplus(d.p[f"{name}.scale"]) * (own * mapped + messages)


def dense_ggcn(d: Dense):
    x, options = KEPT * d.x, d.options
    total, output = elu(d.linear(x, "residual")), dense_layer(d, x, "layers.0")
    for k in range(1, options.depth):
        state = KEPT * elu(output)
        share = math.log(options.decay / (k + 1) ** options.exponent + 1)
        total = total + (1 if k == 1 else share) * state
        output = dense_layer(d, total, f"layers.{k}")
    return output


@pytest.mark.parametrize("depth", [2, 4])
def test_outputs_and_gradients_equal_the_dense_transcription(depth, monkeypatch):
    assert_equals_transcription("ggcn", dense_ggcn, monkeypatch, depth=depth, decay=0.8)


def test_like_neighbours_attract_and_unlike_neighbours_repel():
    graph = small_graph()
    _, inputs, model = build("ggcn", graph)
    hidden = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    edges = edges_of(inputs.operator)
    likeness = model.layers[0].likeness(hidden, edges)
    assert likeness.abs().max() <= 1 + 1e-12
    assert likeness.min() < 0 < likeness.max()
    loops = edges.rows == edges.columns
    torch.testing.assert_close(likeness[loops], torch.ones(graph.num_nodes, dtype=torch.float64))


def test_neighbours_look_alike_before_the_first_step():
    """Rows of X sum to 1, so the bias outweighs H W; from zero the signs would be noise."""
    torch.manual_seed(0)
    layer = GgcnLayer(2000, 16)
    rows = torch.zeros(6, 2000)
    for node in range(6):
        rows[node, 300 * node : 300 * node + 12] = 1 / 12  # no feature in common
    pattern = sp.csr_array(np.ones((6, 6)) - np.eye(6))
    edges = edges_of(Propagation.from_scipy(pattern))
    with torch.no_grad():
        assert layer.likeness(layer.linear(rows), edges).min() > 0.5


def test_a_directed_graph_is_taken_as_it_is():
    """Messages come along the edges of a row only, degrees are row sums (the released program)."""
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0], direction="keep").replace(
        features=np.eye(3)
    )
    _, inputs, model = build("ggcn", graph, depth=1, noise=0.0)
    x = torch.eye(3, dtype=torch.float64, requires_grad=True)
    model.layers[0](x, inputs.operator)[0].sum().backward()
    assert x.grad[1].abs().sum() > 0
    assert x.grad[2].abs().sum() == 0


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="decay=0"):
        MODELS["ggcn"].with_options(decay=0.0)
