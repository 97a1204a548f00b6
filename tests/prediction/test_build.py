import numpy as np
import pytest

from heterophily.comparison.train import train
from heterophily.data.splits import SplitBatch
from heterophily.evaluation.split_rules import splits_of
from heterophily.prediction.build import calibrate_report, model_of, splits_card
from heterophily.training.config import TrainConfig


def test_scores_of_a_report_are_those_of_its_replicas(graph):
    config, splits = TrainConfig(max_epochs=5), splits_of(graph, "random", repeats=2)
    report = train("gcn", graph, splits=splits, repeats=3, config=config, workers=1)
    found = report.evaluation.scores
    assert found["accuracy"].values == pytest.approx(report.test_accuracy["values"])
    assert len(found["roc-auc"].values) == 3
    calibrated = calibrate_report(report)
    assert calibrated.temperature > 0
    assert len(calibrated.to_dict()["calibration-error-scaled"]["values"]) == 3


def test_the_model_of_a_choice_has_its_members_and_their_splits(chosen):
    model = model_of(chosen)
    assert [(v.split, v.seed) for v in model.votes] == [
        (m.split, m.seed) for m in chosen.ensemble.members
    ]
    assert model.trained_on.feature_names == chosen.graph.feature_names
    assert model.networks[0].config["max_epochs"] == chosen.config["max_epochs"]
    assert model.card["metrics"]["accuracy"]["mean"] == chosen.estimate.mean("accuracy")


def test_the_card_of_splits_names_rule_sizes_and_contents(chosen):
    card = splits_card(chosen.splits, "folds", 3)
    assert (card["rule"], card["seed"], card["count"]) == ("folds", 3, 5)
    assert card["sizes"] == list(chosen.splits[0].sizes)
    assert len(set(card["digests"])) == 5
    one = SplitBatch.stack([chosen.splits[2]])
    assert splits_card(one, "folds", 3)["digests"] == card["digests"][2:3]
    assert np.all(one.test[0] == chosen.splits.test[0])
