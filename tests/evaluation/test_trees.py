"""Trees: what they learn, what they have never seen, dense and sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.errors import InputError
from heterophily.evaluation.trees import TreeOptions, fit_trees


def exclusive_or(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((n, 2))
    return x, ((x[:, 0] > 0.5) ^ (x[:, 1] > 0.5)).astype(np.int64)


def test_trees_learn_what_no_linear_rule_can() -> None:
    x, y = exclusive_or()
    trees = fit_trees(x[:300], y[:300], num_classes=2)
    assert (trees.probabilities(x[300:]).argmax(1) == y[300:]).mean() > 0.9


def test_probabilities_add_up_and_a_class_never_seen_has_none() -> None:
    x, y = exclusive_or()
    found = fit_trees(x, 2 * y, num_classes=4).probabilities(x)
    assert found.shape == (400, 4)
    assert np.allclose(found.sum(1), 1)
    assert (found[:, [1, 3]] == 0).all()


@pytest.mark.parametrize("columns", [0, 2])
def test_one_class_in_training_is_answered_everywhere(columns: int) -> None:
    x = np.zeros((5, columns))
    found = fit_trees(x, np.full(5, 1), num_classes=3).probabilities(x)
    assert (found == [0, 1, 0]).all()


def test_without_columns_the_largest_class_is_answered() -> None:
    found = fit_trees(np.zeros((5, 0)), np.array([0, 1, 1, 2, 1]), num_classes=3)
    assert found.probabilities(np.zeros((2, 0))).argmax(1).tolist() == [1, 1]


def test_sparse_rows_serve_as_well() -> None:
    x, y = exclusive_or()
    x = np.where(x > 0.5, x, 0.0)
    trees = fit_trees(sp.csr_array(x[:300]), y[:300], num_classes=2)
    assert (trees.probabilities(sp.csr_array(x[300:])).argmax(1) == y[300:]).mean() > 0.9


def test_the_same_seed_gives_the_same_trees() -> None:
    x, y = exclusive_or()
    first, second = (fit_trees(x, y, num_classes=2, seed=3).probabilities(x) for _ in range(2))
    assert (first == second).all()


def test_validation_nodes_end_the_rounds() -> None:
    x, _ = exclusive_or()
    y = np.random.default_rng(1).integers(0, 3, 400)  # nothing to learn
    options = TreeOptions(rounds=200, patience=5)
    trees = fit_trees(
        x[:300], y[:300], num_classes=3, options=options, validation=(x[300:], y[300:])
    )
    assert trees.booster.num_boosted_rounds() < 50


def test_no_training_node_is_refused() -> None:
    with pytest.raises(InputError, match="at least one labelled training node"):
        fit_trees(np.zeros((0, 2)), np.zeros(0, np.int64), num_classes=2)
