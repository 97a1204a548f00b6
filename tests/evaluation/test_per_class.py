"""Precision and recall of each class are those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from heterophily.evaluation.per_class import class_scores, confusion_of


def test_scores_of_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels, votes = rng.integers(0, 3, 90), rng.dirichlet(np.ones(3), 90)
    predicted = votes.argmax(1)
    found = class_scores(confusion_of(labels, votes), ("a", "b", "c"))
    wanted = metrics.precision_recall_fscore_support(labels, predicted)
    for place, name in enumerate(("precision", "recall", "f1", "nodes")):
        assert [getattr(score, name) for score in found] == pytest.approx(list(wanted[place]))


def test_a_class_that_is_never_called_has_no_precision_and_an_absent_one_no_recall():
    votes = np.array([[0.9, 0.1, 0.0]] * 3)
    found = class_scores(confusion_of(np.array([0, 1, 1]), votes), ("a", "b", "c"))
    assert (found[1].precision, found[1].recall) == (None, 0.0)
    assert (found[2].recall, found[2].f1) == (None, None)
    assert found[0].to_dict() == {
        "class": "a", "nodes": 1, "precision": pytest.approx(1 / 3), "recall": 1.0, "f1": 0.5,
    }  # fmt: skip
