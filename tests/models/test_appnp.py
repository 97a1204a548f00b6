from __future__ import annotations

import pytest
import torch
from dense_models import Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_appnp(d: Dense):
    state = prediction = d.mlp(d.x, "mlp")
    for _ in range(d.options.hops):
        state = (1 - d.options.alpha) * d.renormalized @ state + d.options.alpha * prediction
    return state


def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch):
    assert_equals_transcription("appnp", dense_appnp, monkeypatch, hops=4, alpha=0.2)


def test_many_steps_reach_personalised_pagerank():
    """Eq. 3: the limit is alpha (I - (1 - alpha) Â)^-1 H."""
    graph = small_graph()
    _, inputs, model = build("appnp", graph, hops=300, alpha=0.2)
    model.eval()
    closed = torch.from_numpy(graph.adjacency.toarray()).double() + torch.eye(graph.num_nodes)
    root = closed.sum(1) ** -0.5
    operator = root[:, None] * closed * root
    limit = 0.2 * torch.linalg.inv(torch.eye(graph.num_nodes) - 0.8 * operator)
    torch.testing.assert_close(model(inputs), limit @ model.mlp(inputs.features))


def test_alpha_one_is_the_perceptron_alone():
    _, inputs, model = build("appnp", small_graph(), alpha=1.0)
    model.eval()
    torch.testing.assert_close(model(inputs), model.mlp(inputs.features))


def test_edge_dropout_acts_in_training_only():
    _, inputs, model = build("appnp", small_graph(), dropout=0.0, edge_dropout=0.5)
    assert not torch.equal(model(inputs), model(inputs))
    model.eval()
    assert torch.equal(model(inputs), model(inputs))


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="alpha=2"):
        MODELS["appnp"].with_options(alpha=2.0)
