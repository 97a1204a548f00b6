from __future__ import annotations

import torch

from heterophily.engine.plan import covers
from heterophily.layers.scalar_mixer import ScalarMixer
from heterophily.models.catalog import MODELS


def test_all_nodes_share_the_weights_of_the_channels():
    mixer = ScalarMixer(3, scale=2.0)
    with torch.no_grad():
        mixer.shares.copy_(torch.tensor([0.5, -1.0, 0.25]))
    channels = [torch.randn(5, 4) for _ in range(3)]
    collected: list[torch.Tensor] = []
    mixed = mixer(channels, collected)
    wanted = 2.0 * (0.5 * channels[0] - channels[1] + 0.25 * channels[2])
    torch.testing.assert_close(mixed, wanted)
    assert torch.equal(collected[0], mixer.shares.expand(5, 3))


def test_the_filterbank_has_three_numbers_per_layer_where_acm_has_a_mixer():
    sizes = {"num_nodes": 9, "num_features": 7, "num_classes": 3}
    models = [MODELS[name].build(**sizes) for name in ("acm-gcn[scalar]", "acm-gcn[sum]")]
    count, plain = (sum(p.numel() for p in model.parameters()) for model in models)
    assert count - plain == 2 * 3


def test_the_native_engine_says_that_it_does_not_train_it():
    assert covers(MODELS["acm-gcn[scalar]"]) == "mixer ScalarMixer runs in torch"
