import numpy as np
import pytest
from prediction.pretend import LABELS, candidates, make

from heterophily.data.graph import Graph
from heterophily.prediction.estimate import SCALED, estimate, validated_temperature

GRAPH = Graph.from_edges([0], [1], labels=LABELS, num_nodes=LABELS.size)


def test_the_test_set_is_judged_by_the_votes_of_all_fair_members():
    search = make()
    (trial,) = search.run(candidates(0.6))
    members, splits = list(trial.members.values()), search.trainer.splits
    found = estimate(members, GRAPH, splits, temperature=1.0)
    rows = np.flatnonzero(splits.test[0])
    votes = np.mean([member.probabilities[rows] for member in members], axis=0)
    assert found.mean("accuracy") == pytest.approx((votes.argmax(1) == LABELS[rows]).mean())
    each = [np.mean(m.probabilities[rows].argmax(1) == LABELS[rows]) for m in members]
    assert found.single == pytest.approx(np.mean(each))
    assert found.test_nodes == rows.size


def test_votes_that_are_too_sure_get_a_temperature_above_one():
    search = make()
    (trial,) = search.run(candidates(0.6))  # certain of every vote, right on 60 %
    members, splits = list(trial.members.values()), search.trainer.splits
    temperature = validated_temperature(members, LABELS, splits)
    assert temperature > 1
    found = estimate(members, GRAPH, splits, temperature=temperature)
    before = estimate(members, GRAPH, splits, temperature=1.0)
    assert found.scores["calibration-error"] == before.scores["calibration-error"]
    assert found.scores[SCALED] != before.scores[SCALED]


def test_a_test_set_has_one_value_an_interval_and_baselines_beside():
    search = make()
    (trial,) = search.run(candidates(0.99))
    members, splits = list(trial.members.values()), search.trainer.splits
    found = estimate(members, GRAPH, splits, temperature=1.0).evaluation
    (value,) = found.scores["accuracy"].values  # five splits, one test set
    assert found.scores["accuracy"].interval.low < value
    largest, trees = found.baselines
    assert largest.value.mean == pytest.approx(1 / 3)
    assert largest.is_better
    assert trees.absence
    assert found.threshold is None  # three classes
