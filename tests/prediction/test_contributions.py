import numpy as np
import pytest

from heterophily.models.catalog import MODELS
from heterophily.prediction.contributions import contributions
from heterophily.prediction.predict import built_networks

MIXING = [
    name
    for name in MODELS
    if name.startswith("acm")
    and "gcnii" not in name
    and not name.endswith("[low]")
    and name != "acm-sign"  # it mixes hidden states; explain does not take it apart
]


def parts_of(found):
    return [*found.by_channel, *([] if found.residual is None else [found.residual])]


@pytest.mark.parametrize("name", MIXING)
def test_channels_and_residual_add_up_to_the_logits(trained, graph, name):
    for network, built, inputs in built_networks(trained(name), graph):
        for node in (0, 7, 30):
            found = contributions(network, built, inputs, node)
            assert found.by_channel.shape == (len(network.channel_names), 3)
            assert (found.residual is None) == ("++" not in name)
            total = np.sum(parts_of(found), axis=0)
            size = max(1.0, np.abs(parts_of(found)).max())  # logits are float32
            assert total == pytest.approx(found.logits, rel=0, abs=1e-6 * size)


def test_every_model_that_mixes_logits_is_asked():
    assert {"acm-gcn", "acmii-gcn+", "acm-gcn++", "acm-sgc-2", "acmii-snowball-3"} <= set(MIXING)
    assert {"acm-gcn[sum]", "acm-gcn[low,high]", "acmii-gcn[sum]"} <= set(MIXING)


def test_the_residual_is_a_relu_of_the_features(trained, graph):
    model = trained("acm-gcn++", with_structure=False)
    network, built, inputs = next(built_networks(model, graph))
    rest = [contributions(network, built, inputs, node).residual for node in range(graph.num_nodes)]
    assert np.min(rest) >= 0.0
    assert np.max(rest) > 1e-3  # at some node; which ones depends on the processor's rounding


def test_without_a_layer_that_mixes_logits_there_is_nothing_to_take_apart(trained, graph):
    for name in ("gat", "gcnii", "gcn", "acm-gcnii"):
        network, built, inputs = next(built_networks(trained(name), graph))
        assert contributions(network, built, inputs, 7) is None
