from dataclasses import replace

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.prediction.contributions import contributions
from heterophily.prediction.explain import explain
from heterophily.prediction.predict import built_networks, predict


def test_explain_agrees_with_predict(trained, graph):
    model = trained()
    found, told = predict(model, graph), explain(model, graph, "v5")
    assert told.predicted == found.labels[5]
    assert told.probability == found.confidence[5]
    assert told.known == "blue"
    assert [share.weight for share in told.channels] == found.channel_weights[5].tolist()
    alike = found.classes == found.classes[5]
    means = found.channel_weights[alike].mean(0)
    assert [share.class_weight for share in told.channels] == pytest.approx(means.tolist())


def test_one_member_has_the_margin_of_its_logits(trained, graph):
    model = trained()
    single = replace(model, votes=model.votes[:1])
    network, built, inputs = next(built_networks(single, graph))
    parts = contributions(network, built, inputs, 5)
    told = explain(single, graph, "v5")
    order = np.sort(parts.logits)
    assert told.channels[0].margin == pytest.approx(order[-1] - order[-2], abs=1e-6)
    best = single.class_names.index(told.predicted)
    for share, part in zip(told.channels, parts.by_channel, strict=True):
        rest = parts.logits - part
        lead = rest[best] - np.delete(rest, best).max()
        assert share.margin_without == pytest.approx(lead, abs=1e-6)
        assert share.favours == single.class_names[part.argmax()]
    assert told.decisive.margin_without == min(s.margin_without for s in told.channels)


def with_strong_residual(model):
    """Return the model with its residuals ten times as strong."""
    votes = tuple(
        replace(
            vote,
            state={
                key: 10.0 * value if "output_residual" in key else value
                for key, value in vote.state.items()
            },
        )
        for vote in model.votes
    )
    return replace(model, votes=votes)


def test_what_the_parts_add_sums_up_to_the_lead(trained, graph):
    for name in ("acm-gcn", "acm-gcn+", "acm-gcn++", "acmii-gcn++"):
        told = explain(trained(name), graph, "v5")
        assert (told.residual is None) == ("++" not in name)
        total = sum(part.adds for part in told.parts)
        assert total == pytest.approx(told.parts[0].margin, abs=1e-5)


def test_a_residual_that_decides_is_named(trained, graph):
    model = with_strong_residual(trained("acm-gcn++", with_structure=False))
    told = [explain(model, graph, f"v{node}") for node in range(12)]
    by_residual = [one for one in told if one.decisive is one.residual]
    assert by_residual
    for one in by_residual:
        assert one.residual.margin_without < min(s.margin_without for s in one.channels)
        assert "What decided: the residual (its own features, added after" in str(one)
    assert all("\n  residual " in str(one) for one in told)


def test_neighbours_and_homophily_are_those_of_the_graph(trained, graph):
    told = explain(trained(), graph, "v5")
    neighbours = set(graph.adjacency[[5]].indices.tolist())
    assert told.num_neighbours == len(neighbours)
    assert {other.node for other in told.neighbours} <= {f"v{i}" for i in neighbours}
    assert sum(told.neighbour_labels.values()) == len(neighbours)
    values = node_homophily_values(graph)
    assert told.local_homophily == pytest.approx(values[5])
    assert told.class_homophily == pytest.approx(np.nanmean(values[graph.labels == 2]))


def test_words_name_label_channel_and_neighbours(trained, graph):
    told = explain(trained(), graph, "v5")
    text = str(told)
    assert f"Node v5 is predicted as class {told.predicted}" in text
    assert f"What decided: the {told.decisive.name} channel" in text
    assert f"Neighbours: {told.num_neighbours}." in text
    assert "Local homophily:" in text


def test_logits_that_are_no_sum_over_channels_are_told_so(trained, graph):
    text = str(explain(trained("acm-gcn", output_relu=True), graph, "v5"))
    assert "the part that decided cannot be named" in text
    assert "What decided" not in text


def test_a_node_without_neighbours_and_a_model_without_channels(trained, graph):
    lonely = Graph.from_edges([0], [1], features=np.eye(3), node_ids=["a", "b", "c"])
    told = explain(trained("mlp-2"), lonely, "c")
    assert (told.num_neighbours, told.local_homophily, told.channels) == (0, None, ())
    assert "It has no neighbours" in str(told)
    assert "does not mix channels" in str(told)


def test_an_unknown_node_is_refused_with_an_example(trained, graph):
    with pytest.raises(InputError, match="small has no node 'v99'; ids look like 'v0'"):
        explain(trained(), graph, "v99")
