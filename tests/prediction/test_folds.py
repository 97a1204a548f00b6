import numpy as np
import pytest

from heterophily.errors import InputError
from heterophily.prediction.folds import held_out_folds


def test_test_nodes_are_common_and_folds_part_the_rest():
    labels = np.array([0] * 70 + [1] * 30 + [-1] * 9)
    splits = held_out_folds(labels, seed=3)
    assert (splits.test == splits.test[0]).all()
    assert (splits.validation.sum(0) == (labels >= 0) & ~splits.test[0]).all()
    assert not (splits.train & splits.test).any()
    assert not splits.train[:, labels < 0].any()


def test_classes_keep_their_shares():
    labels = np.array([0] * 200 + [1] * 50)
    splits = held_out_folds(labels, seed=0)
    assert splits.test[0][labels == 1].sum() == 10
    assert (splits.validation[:, labels == 1].sum(1) == 8).all()


def test_nodes_of_a_tiny_class_are_never_tested():
    labels = np.array([0] * 40 + [1] * 2)
    assert not held_out_folds(labels, seed=0).test[0][labels == 1].any()


def test_the_same_seed_draws_the_same_folds():
    labels = np.arange(60) % 3
    first, again, other = (held_out_folds(labels, seed=seed) for seed in (1, 1, 2))
    assert (first.test == again.test).all()
    assert (first.test != other.test).any()


def test_too_few_labels_are_refused():
    with pytest.raises(InputError, match="6 labelled nodes are too few to choose a model"):
        held_out_folds(np.array([0, 1] * 3), seed=0)


@pytest.mark.parametrize("size", [3, 4, 5, 9])
def test_a_class_of_three_or_more_trains_validates_and_is_tested(size):
    labels = np.array([0] * 60 + [1] * size)
    splits = held_out_folds(labels, seed=0)
    rare = labels == 1
    assert splits.test[0][rare].any()
    assert splits.train[:, rare].any(axis=1).all()  # in every fold
    assert splits.validation[:, rare].any()  # in some fold: there may be fewer nodes than folds
