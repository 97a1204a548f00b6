import math

import numpy as np
import pytest
from prediction.pretend import LABELS, candidates, make

from heterophily.prediction.estimate import SCALED, Estimate, estimate, validated_temperature


def test_one_test_set_has_the_standard_error_of_a_share():
    estimate = Estimate({"accuracy": (0.8,)}, 0.7, 100)
    assert estimate.spread("accuracy") == pytest.approx(0.04)


def test_an_undefined_score_is_none_and_not_a_number_in_the_data():
    found = Estimate({"roc-auc": (math.nan,)}, 0.7, 100).to_dict()
    assert found["roc-auc"] == {"mean": None, "spread": None, "values": [None]}


def test_the_test_set_is_judged_by_the_votes_of_all_fair_members():
    search = make()
    (trial,) = search.run(candidates(0.6))
    members, splits = list(trial.members.values()), search.bench.splits
    found = estimate(members, LABELS, splits, temperature=1.0)
    rows = np.flatnonzero(splits.test[0])
    votes = np.mean([member.probabilities[rows] for member in members], axis=0)
    assert found.mean("accuracy") == pytest.approx((votes.argmax(1) == LABELS[rows]).mean())
    each = [np.mean(m.probabilities[rows].argmax(1) == LABELS[rows]) for m in members]
    assert found.single == pytest.approx(np.mean(each))
    assert found.test_nodes == rows.size


def test_votes_that_are_too_sure_get_a_temperature_above_one():
    search = make()
    (trial,) = search.run(candidates(0.6))  # certain of every vote, right on 60 %
    members, splits = list(trial.members.values()), search.bench.splits
    temperature = validated_temperature(members, LABELS, splits)
    assert temperature > 1
    found = estimate(members, LABELS, splits, temperature=temperature)
    before = estimate(members, LABELS, splits, temperature=1.0)
    assert found.scores["calibration-error"] == before.scores["calibration-error"]
    assert found.scores[SCALED] != before.scores[SCALED]
