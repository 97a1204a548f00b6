import pytest

from heterophily.models.catalog import MODELS
from heterophily.prediction.model import Network

PLUS = {"acm-gcn+", "acmii-gcn+", "acm-gcn++", "acmii-gcn++", "res-acm+", "res-acmii+"}
KEEP_LABELS = {"label-propagation", "correct-and-smooth", "trees-labels", "typed-trees"}
BOUND = {"linkx", "glognn", "glognn++"} | PLUS | KEEP_LABELS


@pytest.mark.parametrize("name", [name for name in MODELS if "[" not in name])
def test_weights_of_nodes_are_found_by_building(name):
    network = Network(name)
    assert bool(network.node_weights) == (name in BOUND)


def test_the_option_decides_not_the_name():
    assert Network("acm-gcn", {"with_structure": True}).node_weights
    assert not Network("acm-gcn++", {"with_structure": False}).node_weights


def test_channels_have_names():
    assert Network("acm-gcn").channel_names == ("low", "high", "identity")
    assert Network("acm-gcn+").channel_names[-1] == "structure"
    assert Network("acm-sgc-2").channel_names == ("low-2", "high", "identity")
    assert Network("gat").channel_names == ()


def test_a_model_without_features_is_bound_to_its_nodes(trained):
    from prediction.quick import make_graph

    model = trained("acm-gcn", on=make_graph(with_features=False))
    assert "no features" in model.why_not_inductive
    assert trained("acm-gcn").why_not_inductive is None
