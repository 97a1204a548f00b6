"""The threshold is chosen on validation nodes alone and finds more of a rare class."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from heterophily.evaluation.threshold import best_threshold, choose_threshold


def drawn(seed, size=400, share=0.1):
    rng = np.random.default_rng(seed)
    labels = (rng.random(size) < share).astype(np.int64)
    scores = 1 / (1 + np.exp(-(rng.normal(size=size) + 2 * labels - 3)))  # too low: below one half
    return labels, np.column_stack([1 - scores, scores])


def test_no_other_threshold_has_a_higher_f1_on_the_same_nodes():
    labels, votes = drawn(0)
    value = best_threshold(labels, votes[:, 1])
    best = f1_score(labels, votes[:, 1] >= value)
    assert best == pytest.approx(max(f1_score(labels, votes[:, 1] >= v) for v in votes[:, 1]))


def test_the_rarer_class_is_found_more_often_than_at_one_half():
    validation, test = drawn(1), drawn(2)
    found = choose_threshold([validation], [test])
    assert (found.positive, found.value < 0.5) == (1, True)
    at_half = f1_score(test[0], test[1].argmax(1))
    assert found.scores["f1"] > at_half + 0.1
    turned = choose_threshold(
        [(1 - validation[0], validation[1][:, ::-1])], [(1 - test[0], test[1][:, ::-1])]
    )
    assert turned.positive == 0
    assert turned.value == pytest.approx(found.value)
    assert turned.scores == pytest.approx(found.scores)


def test_test_labels_do_not_move_the_threshold():
    validation, test = drawn(1), drawn(2)
    shuffled = np.random.default_rng(0).permutation(test[0])
    first, second = (
        choose_threshold([validation], [(labels, test[1])]) for labels in (test[0], shuffled)
    )
    assert first.value == second.value


def test_three_classes_and_one_class_alone_have_no_threshold():
    three = np.array([0, 1, 2]), np.eye(3)
    assert choose_threshold([three], [three]) is None
    alone = np.zeros(3, np.int64), np.tile([0.6, 0.4], (3, 1))
    assert choose_threshold([alone], [drawn(0)]) is None
