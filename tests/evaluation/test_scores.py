import math

import numpy as np
import pytest
from sklearn import metrics

from heterophily.errors import InputError
from heterophily.evaluation.ranking import area_under_roc, mean_precision
from heterophily.evaluation.scores import (
    SCORES,
    expected_calibration_error,
    roc_auc,
    score_for,
)


def drawn(seed, num_classes, size=200):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, num_classes, size)
    probabilities = rng.dirichlet(np.ones(num_classes), size)
    probabilities[rng.random(size) < 0.3] = 1 / num_classes  # many ties
    return labels, probabilities


@pytest.mark.parametrize("num_classes", [2, 3, 7])
def test_scores_equal_those_of_scikit_learn(num_classes):
    labels, probabilities = drawn(num_classes, num_classes)
    predicted = probabilities.argmax(1)
    shown = probabilities[:, 1] if num_classes == 2 else probabilities
    found = {name: score(labels, probabilities) for name, score in SCORES.items()}
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(labels, predicted))
    assert found["balanced-accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(labels, predicted)
    )
    assert found["macro-f1"] == pytest.approx(metrics.f1_score(labels, predicted, average="macro"))
    area = metrics.roc_auc_score(labels, shown, multi_class="ovr")
    assert found["roc-auc"] == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_areas_equal_those_of_scikit_learn_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    is_class = rng.random(60) < 0.3
    is_class[:2] = True, False
    score = np.round(rng.random(60), seed % 4 + 1)  # few or many ties
    assert area_under_roc(is_class, score) == metrics.roc_auc_score(is_class, score)
    assert mean_precision(is_class, score) == metrics.average_precision_score(is_class, score)


def test_guessing_the_large_class_is_accurate_but_neither_balanced_nor_ranked():
    labels = np.array([0] * 9 + [1])
    lazy = np.tile([0.9, 0.1], (10, 1))
    found = {name: score(labels, lazy) for name, score in SCORES.items()}
    assert (found["accuracy"], found["balanced-accuracy"], found["roc-auc"]) == (0.9, 0.5, 0.5)


def test_a_class_that_does_not_occur_is_left_out_and_one_class_alone_has_no_area():
    labels, probabilities = drawn(0, 2)
    wider = np.column_stack([probabilities, np.zeros(labels.size)])
    assert roc_auc(labels, wider) == pytest.approx(roc_auc(labels, probabilities))
    assert math.isnan(roc_auc(np.zeros(5, int), np.tile([0.5, 0.5], (5, 1))))


def test_calibration_error_of_honest_confidence_is_zero_and_bins_are_closed_above():
    labels = np.array([0] * 8 + [1] * 2)
    assert expected_calibration_error(labels, np.tile([0.8, 0.2], (10, 1))) == pytest.approx(0)
    certain = np.tile([1.0, 0.0], (10, 1))
    assert expected_calibration_error(labels, certain) == pytest.approx(0.2)


def test_score_for_a_rare_class_of_two_is_the_area_and_else_accuracy():
    assert score_for(np.array([0] * 80 + [1] * 20)) == "roc-auc"  # as in minesweeper
    assert score_for(np.array([0] * 60 + [1] * 40)) == "accuracy"
    assert score_for(np.array([0] * 90 + [1] * 5 + [2] * 5)) == "balanced-accuracy"
    assert score_for(np.array([0] * 55 + [1] * 15 + [2] * 30)) == "accuracy"  # not five times
    assert score_for(np.repeat(np.arange(5), [33, 1, 18, 101, 30])) == "accuracy"  # as in texas
    with pytest.raises(InputError, match="no node has a label"):
        score_for(np.full(3, -1))


def test_every_score_is_better_when_higher():
    labels, _ = drawn(1, 3)
    right = np.eye(3)[labels]
    assert all(score(labels, right) == 1.0 for score in SCORES.values())


def test_average_precision_is_that_of_the_rarer_class_whatever_its_number():
    labels = np.array([0] * 18 + [1] * 2)
    scores = np.linspace(0.05, 0.95, 20)
    shown = np.column_stack([1 - scores, scores])
    wanted = metrics.average_precision_score(labels, scores)
    assert SCORES["average-precision"](labels, shown) == pytest.approx(wanted)
    assert SCORES["average-precision"](1 - labels, shown[:, ::-1]) == pytest.approx(wanted)
    chance = np.tile([0.9, 0.1], (20, 1))
    assert SCORES["average-precision"](labels, chance) == pytest.approx(0.1)


def test_undefined_scores_are_nan_without_a_warning():
    alone = np.zeros(4, np.int64), np.tile([0.2, 0.8], (4, 1))
    assert math.isnan(SCORES["average-precision"](*alone))
    assert SCORES["macro-f1"](*alone) == 0.0
    assert SCORES["balanced-accuracy"](*alone) == 0.0
