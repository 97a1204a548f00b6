import numpy as np
import pytest

from heterophily.prediction.contributions import contributions
from heterophily.prediction.predict import built_networks


@pytest.mark.parametrize("name", ["acm-gcn", "acmii-gcn+", "acm-gcn[sum]", "acm-snowball-2"])
def test_contributions_of_channels_add_up_to_the_logits(trained, graph, name):
    for network, built, inputs in built_networks(trained(name), graph):
        parts = contributions(network, built, inputs, 7)
        assert parts.by_channel.shape == (len(network.channel_names), 3)
        assert parts.rest == pytest.approx(np.zeros(3), abs=1e-5)


def test_the_residual_is_what_no_channel_brought(trained, graph):
    model = trained("acm-gcn++", with_structure=False)
    network, built, inputs = next(built_networks(model, graph))
    rest = [contributions(network, built, inputs, node).rest for node in range(graph.num_nodes)]
    assert np.min(rest) >= -1e-6  # ReLU(X W_X)
    assert np.max(rest) > 1e-3  # at some node; which ones depends on the processor's rounding


def test_without_a_layer_that_mixes_logits_there_is_nothing_to_take_apart(trained, graph):
    for name in ("gat", "gcnii", "gcn"):
        network, built, inputs = next(built_networks(trained(name), graph))
        assert contributions(network, built, inputs, 7) is None
