from __future__ import annotations

import numpy as np

from heterophily.comparison.train import train
from heterophily.data.graph import Graph
from heterophily.prediction.build import calibrate_report, model_of_report, network_of
from heterophily.prediction.explain import explain
from heterophily.prediction.folder import load_model, save_model
from heterophily.prediction.predict import predict
from heterophily.training.config import TrainConfig


def test_trees_are_saved_without_pickle_predict_the_same_and_are_explained_by_feature(tmp_path):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 2))
    labels = (features[:, 0] > 0).astype(np.int64)
    graph = Graph.from_edges(
        np.arange(119),
        np.arange(1, 120),
        features=features,
        feature_names=("age", "noise"),
        labels=labels,
        num_nodes=120,
    )
    config = TrainConfig()
    report = train("trees-channels", graph, repeats=2, config=config, workers=1)
    network = network_of(report, {}, config)
    model = model_of_report(report, network, calibrate_report(report), seed=0)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert again.why_not_inductive is None
    found = predict(again, graph).probabilities
    np.testing.assert_array_equal(found, predict(model, graph).probabilities)
    assert (found.argmax(1) == labels).mean() > 0.9
    explanation = explain(again, graph, 3)
    assert explanation.features[0].name == "its own age"
    assert explanation.features[0].share > 0.3
    text = str(explanation)
    assert "What the trees use most, over all nodes (share of the gain of their splits):" in text
    assert " %  its own age" in text


def test_a_network_has_no_feature_shares():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], labels=[0, 1, 0, 1, 0, 1], num_nodes=6)
    config = TrainConfig(max_epochs=2)
    report = train("mlp-1", graph, repeats=1, config=config, workers=1, splits="random")
    network = network_of(report, {}, config)
    model = model_of_report(report, network, calibrate_report(report), seed=0)
    assert explain(model, graph, 0).features == ()
