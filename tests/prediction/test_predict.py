import csv

import numpy as np
import pytest
from prediction.quick import reordered, with_new_nodes

from heterophily.prediction.calibration import tempered
from heterophily.prediction.predict import predict


def test_on_the_training_graph_the_votes_are_those_of_training(chosen, graph):
    from heterophily.prediction.build import model_of

    model = model_of(chosen, rule="folds", seed=0)
    votes = np.mean([member.probabilities for member in chosen.ensemble.members], axis=0)
    found = predict(model, graph).probabilities
    assert found == pytest.approx(tempered(votes, chosen.temperature), abs=1e-6)  # kept in float32


@pytest.mark.parametrize("name", ["acm-gcn", "gat", "h2gcn"])
def test_relabelled_nodes_get_the_same_answers(trained, graph, name):
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    before = predict(trained(name), graph)
    after = predict(trained(name), reordered(graph, order))
    assert after.probabilities == pytest.approx(before.probabilities[order], abs=1e-5)
    assert np.array_equal(after.node_ids, graph.node_ids[order])


def test_unseen_nodes_are_predicted_and_far_ones_change_nothing(trained, graph):
    larger = with_new_nodes(graph)
    before, after = predict(trained("mlp-2"), graph), predict(trained("mlp-2"), larger)
    assert after.probabilities[:60] == pytest.approx(before.probabilities, abs=1e-6)
    assert after.probabilities.shape == (63, 3)
    mixed = predict(trained("acm-gcn"), larger)
    assert mixed.channel_weights.shape == (63, 3)
    assert mixed.channel_weights.sum(1) == pytest.approx(np.ones(63), abs=1e-6)


def test_the_table_has_label_probabilities_and_channels(trained, graph, tmp_path):
    found = predict(trained(), graph)
    found.to_csv(tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "node", "label", "p(red)", "p(green)", "p(blue)",
        "channel(low)", "channel(high)", "channel(identity)",
    ]  # fmt: skip
    assert [row["node"] for row in rows] == graph.node_ids.tolist()
    for row, label, value in zip(rows, found.labels, found.confidence, strict=True):
        assert row["label"] == label
        assert float(row[f"p({label})"]) == pytest.approx(value, abs=1e-6)
    bare = predict(trained("mlp-2"), graph)
    assert bare.channel_weights is None
    assert bare.header[-1] == "p(blue)"
