from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph
from torch.nn.functional import elu, leaky_relu

from heterophily.errors import InputError
from heterophily.layers.edges import edges_of
from heterophily.models.catalog import MODELS


def attention_layer(d: Dense, hidden, name, heads, *, is_output, kept=KEPT):
    """Eqs. 1 to 6, one head after the other, with the N x N matrix of weights."""
    width = d.p[f"{name}.receiver"].shape[1]
    outputs = []
    for k in range(heads):
        mapped = hidden @ d.p[f"{name}.linear.weight"][:, k * width : (k + 1) * width]
        received, sent = mapped @ d.p[f"{name}.receiver"][k], mapped @ d.p[f"{name}.sender"][k]
        scores = leaky_relu(received[:, None] + sent[None, :], 0.2)
        scores = scores.masked_fill(d.a + d.eye == 0, -torch.inf)
        outputs.append(kept * scores.softmax(1) @ mapped)
    joined = torch.stack(outputs).mean(0) if is_output else torch.cat(outputs, 1)
    return joined + d.p[f"{name}.bias"]


def dense_gat(d: Dense):
    state = attention_layer(d, KEPT * d.x, "layers.0", d.options.heads, is_output=False)
    for layer in range(1, d.options.depth):
        is_output = layer == d.options.depth - 1
        heads = d.options.output_heads if is_output else d.options.heads
        state = attention_layer(d, KEPT * elu(state), f"layers.{layer}", heads, is_output=is_output)
    return state


@pytest.mark.parametrize(
    "options", [{"heads": 3}, {"heads": 2, "output_heads": 4, "depth": 3}], ids=str
)
def test_outputs_and_gradients_equal_the_dense_transcription(options, monkeypatch):
    assert_equals_transcription("gat", dense_gat, monkeypatch, **options)


def test_attention_weights_are_positive_and_sum_to_one_over_the_neighbours():
    _, inputs, model = build("gat", small_graph(), heads=3)
    edges = edges_of(inputs.operator)
    hidden = torch.randn(inputs.num_nodes, 3, 5, dtype=torch.float64)
    weights = model.layers[0].attention(hidden, edges)
    assert (weights > 0).all()
    torch.testing.assert_close(
        edges.row_sums(weights), torch.ones(inputs.num_nodes, 3, dtype=torch.float64)
    )


def test_equal_scores_make_the_layer_a_mean_over_node_and_neighbours():
    """With a = 0 GAT is the random-walk GCN."""
    graph = small_graph()
    _, inputs, model = build("gat", graph, heads=1, dropout=0.0)
    layer = model.layers[0]
    with torch.no_grad():
        layer.receiver.zero_()
        layer.sender.zero_()
    closed = torch.from_numpy(graph.adjacency.toarray()).double() + torch.eye(graph.num_nodes)
    mean = closed / closed.sum(1, keepdim=True)
    features = torch.randn(graph.num_nodes, graph.num_features, dtype=torch.float64)
    torch.testing.assert_close(
        layer(features, edges_of(inputs.operator)),
        mean @ features @ layer.linear.weight + layer.bias,
    )


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="heads=0"):
        MODELS["gat"].with_options(heads=0)
    with pytest.raises(InputError, match="attention_dropout=1"):
        MODELS["gat"].with_options(attention_dropout=1.0)
