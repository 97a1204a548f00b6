"""A stored run keeps every score, and None where one is undefined."""

import json

import numpy as np

from heterophily.data.splits import Split
from heterophily.evaluation.run_scores import run_scores
from heterophily.evaluation.scores import SCORES

LABELS = np.array([0, 1, 0, 1, 1, 1])
VOTES = np.column_stack([np.linspace(0.9, 0.2, 6), np.linspace(0.1, 0.8, 6)])


def test_scores_of_both_sets_and_the_confusion_of_the_test_nodes():
    split = Split.from_parts([0], [1, 2], [3, 4, 5], num_nodes=6)
    found = json.loads(json.dumps(run_scores(LABELS, VOTES, split), allow_nan=False))
    assert set(found["validation"]) == set(found["test"]) == set(SCORES)
    assert found["test"]["roc-auc"] is None  # one class alone
    assert found["validation"]["accuracy"] == np.mean(VOTES[[1, 2]].argmax(1) == LABELS[[1, 2]])
    assert np.sum(found["confusion"]) == 3
    assert found["confusion"][0] == [0, 0]


def test_a_large_confusion_matrix_is_not_kept():
    votes = np.full((6, 101), 1 / 101)
    split = Split.from_parts([0], [1, 2], [3, 4, 5], num_nodes=6)
    assert "confusion" not in run_scores(LABELS, votes, split)
