from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph
from torch.nn.functional import normalize

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_fsgnn(d: Dense):
    hops = d.options.hops
    powers = [d.eye]
    for matrix in (d.symmetric, d.renormalized):
        powers += [torch.linalg.matrix_power(matrix, k) for k in range(1, hops + 1)]
    shares = d.p["scores"].softmax(0)
    blocks = []
    for power, weight, bias, share in zip(powers, d.p["weight"], d.p["bias"], shares, strict=True):
        block = power @ d.x @ weight + bias
        blocks.append(share * (normalize(block, dim=1) if d.options.use_l2_norm else block))
    return d.linear(KEPT * torch.relu(torch.cat(blocks, 1)), "output")


@pytest.mark.parametrize("use_l2_norm", [True, False])
def test_outputs_and_gradients_equal_the_dense_transcription(use_l2_norm, monkeypatch):
    assert_equals_transcription("fsgnn", dense_fsgnn, monkeypatch, hops=2, use_l2_norm=use_l2_norm)


def test_a_score_chooses_its_hop():
    _, inputs, model = build("fsgnn", small_graph(), dropout=0.0, hops=2)
    with torch.no_grad():
        model.scores.fill_(-1000.0)
        model.scores[0] = 0.0  # own features alone
    edgeless = small_graph().replace(adjacency=small_graph().adjacency * 0)
    _, without, _ = build("fsgnn", edgeless, hops=2)
    torch.testing.assert_close(model(inputs), model(without))


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="hops=0"):
        MODELS["fsgnn"].with_options(hops=0)
