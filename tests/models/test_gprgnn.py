from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.models.gprgnn import STARTS


def dense_gprgnn(d: Dense):
    signal = KEPT * d.mlp(d.x, "mlp")
    powers = [torch.matrix_power(d.renormalized, k) for k in range(d.options.hops + 1)]
    return sum(d.p["gamma"][k] * power @ signal for k, power in enumerate(powers))


def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch):
    assert_equals_transcription("gprgnn", dense_gprgnn, monkeypatch, hops=4)


@pytest.mark.parametrize("start", STARTS)
def test_every_start_has_coefficients_of_total_size_one(start):
    gamma = STARTS[start](0.3, 5)
    assert gamma.shape == (6,)
    assert float(gamma.abs().sum()) == pytest.approx(1.0)


def test_pagerank_start_equals_appnp():
    graph = small_graph()
    _, inputs, model = build("gprgnn", graph, noise=0.0, alpha=0.2, hops=5)
    _, _, appnp = build("appnp", graph, alpha=0.2, hops=5)
    appnp.mlp.load_state_dict(model.mlp.state_dict())
    model.eval()
    appnp.eval()
    torch.testing.assert_close(model(inputs), appnp(inputs), rtol=1e-6, atol=1e-7)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="ppr, nppr, sgc, random"):
        MODELS["gprgnn"].with_options(start="ones")
