import numpy as np
import pytest

from heterophily.prediction.ranking import precision_at, top_nodes


def test_equal_scores_count_by_their_expected_share():
    labels = np.array([1, 0, 1, 0])
    assert precision_at(labels, np.array([0.9, 0.5, 0.5, 0.1]), 2) == pytest.approx(0.75)


def test_the_first_nodes_of_a_perfect_ranking_are_all_of_the_rare_class():
    labels = (np.arange(200) % 20 == 0).astype(int)
    votes = np.column_stack([1.0 - labels, labels]).astype(float)
    found = top_nodes([(labels, votes)])
    assert [(each.count, each.precision) for each in found] == [(2, 1.0), (10, 1.0)]
    assert found[-1].recall == 1.0
    assert found[0].chance == pytest.approx(0.05)


def test_three_classes_have_no_list():
    assert top_nodes([(np.array([0, 1, 2]), np.eye(3))]) == ()
