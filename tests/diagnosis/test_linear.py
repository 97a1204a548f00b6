"""The ridge classifiers are those of a dense reference, and never see the labels under test."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.diagnosis import linear
from heterophily.diagnosis.linear import Sums, linear_scores, predict_all

TRAIN, HELD, TEST = np.arange(0, 50), np.arange(50, 70), np.arange(70, 90)
PARTS = {"train": TRAIN, "held": HELD, "test": TEST}
KNOWN = np.arange(70)


@pytest.fixture
def problem() -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 90)
    own = rng.normal(size=(90, 6)) + 0.9 * np.eye(3, 6)[labels] + 5
    mean = 10 * rng.normal(size=(90, 4)) + 9 * np.eye(3, 4)[labels]
    return {"own": own, "mean": mean}, labels


def scores(blocks, labels, wanted, *, num_classes: int = 3, **parts):
    found = linear_scores(
        blocks, {"asked": wanted}, labels, num_classes=num_classes, **{**PARTS, **parts}
    )
    return found["asked"]


def by_hand(columns, labels, *, alpha: float, num_classes: int = 3):
    """Slow reference: ridge with an intercept that has no penalty, on a column of ones."""
    targets = 2.0 * np.eye(num_classes)[labels] - 1.0
    design = np.hstack([columns, np.ones((90, 1))])
    penalty = alpha * np.eye(design.shape[1])
    penalty[-1, -1] = 0.0
    known = design[KNOWN]
    weights = np.linalg.solve(known.T @ known + penalty, known.T @ targets[KNOWN])
    return design[TEST] @ weights


def scaled(block):
    """A block with total variance 1 on the nodes whose labels are known."""
    return block / np.sqrt(block[KNOWN].var(axis=0).sum())


@pytest.mark.parametrize("alpha", [0.03, 30.0])
def test_one_block_is_a_ridge_with_a_free_intercept(problem, monkeypatch, alpha: float) -> None:
    blocks, labels = problem
    monkeypatch.setattr(linear, "ALPHAS", (alpha,))
    expected = by_hand(scaled(blocks["own"]), labels, alpha=alpha)
    np.testing.assert_allclose(scores(blocks, labels, ("own",)), expected, atol=1e-9)


@pytest.mark.parametrize("balance", [(1.0, 0.3), (0.3, 1.0)])
def test_two_blocks_are_weighed_before_the_penalty(problem, monkeypatch, balance) -> None:
    blocks, labels = problem
    monkeypatch.setattr(linear, "ALPHAS", (3.0,))
    monkeypatch.setattr(linear, "BALANCES", (balance,))
    columns = np.hstack([balance[0] * scaled(blocks["own"]), balance[1] * scaled(blocks["mean"])])
    expected = by_hand(columns, labels, alpha=3.0)
    np.testing.assert_allclose(scores(blocks, labels, ("own", "mean")), expected, atol=1e-9)


def test_the_penalty_with_the_smallest_error_on_held_nodes_is_taken(problem) -> None:
    blocks, labels = problem
    errors = {}
    for alpha in linear.ALPHAS:
        sums = Sums.of(scaled(blocks["own"])[TRAIN], 2.0 * np.eye(3)[labels[TRAIN]] - 1)
        weights, intercept = sums.weights(np.arange(6), np.ones(6), [alpha])
        found = scaled(blocks["own"])[HELD] @ weights[:, 0] + intercept[0]
        errors[alpha] = np.square(found - 2.0 * np.eye(3)[labels[HELD]] + 1).mean()
    expected = by_hand(scaled(blocks["own"]), labels, alpha=min(errors, key=errors.get))
    np.testing.assert_allclose(scores(blocks, labels, ("own",)), expected, atol=1e-9)


def test_units_and_offsets_of_a_block_do_not_matter(problem) -> None:
    blocks, labels = problem
    moved = {"own": 1000 * blocks["own"] - 77, "mean": 0.01 * blocks["mean"] + 3}
    np.testing.assert_allclose(
        scores(blocks, labels, ("own", "mean")), scores(moved, labels, ("own", "mean")), atol=1e-8
    )


def test_labels_of_test_nodes_change_nothing(problem) -> None:
    blocks, labels = problem
    changed = labels.copy()
    changed[TEST] = (changed[TEST] + 1) % 3
    np.testing.assert_array_equal(
        scores(blocks, labels, ("own", "mean")), scores(blocks, changed, ("own", "mean"))
    )


def test_a_class_without_a_training_node_is_never_the_answer(problem) -> None:
    """Its score is -1; scores add up to 2 - C, so some other class has more."""
    blocks, labels = problem
    found = scores(blocks, labels, ("own",), num_classes=5)
    np.testing.assert_allclose(found[:, 3:], -1.0, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 2 - 5)
    assert (found.argmax(axis=1) < 3).all()
    np.testing.assert_allclose(found[:, :3], scores(blocks, labels, ("own",)), atol=1e-9)


def test_constant_and_zero_columns_add_nothing(problem) -> None:
    blocks, labels = problem
    padded = np.hstack([blocks["own"], np.zeros((90, 1)), np.full((90, 1), 4.0)])
    np.testing.assert_allclose(
        scores({"own": padded}, labels, ("own",)), scores(blocks, labels, ("own",)), atol=1e-9
    )


def test_a_block_that_knows_nothing_answers_the_shares_of_the_classes(problem) -> None:
    _, labels = problem
    expected = 2 * np.bincount(labels[KNOWN], minlength=3) / KNOWN.size - 1
    for block in (np.full((90, 2), 7.0), np.zeros((90, 1))):
        found = scores({"own": block}, labels, ("own",))
        np.testing.assert_allclose(found, np.tile(expected, (20, 1)), atol=1e-9)
    empty = scores({"own": np.empty((90, 0)), "mean": np.ones((90, 1))}, labels, ("own",))
    assert (empty.argmax(axis=1) == expected.argmax()).all()


def test_one_column_learns_a_threshold() -> None:
    labels = np.arange(90) % 2
    column = labels[:, None] + 0.01 * np.random.default_rng(0).normal(size=(90, 1))
    found = scores({"structure": column}, labels, ("structure",), num_classes=2)
    assert (found.argmax(axis=1) == labels[TEST]).all()


def test_sums_of_two_sets_are_those_of_their_union(problem) -> None:
    blocks, labels = problem
    targets = 2.0 * np.eye(3)[labels] - 1.0
    both = Sums.of(blocks["own"][TRAIN], targets[TRAIN]) + Sums.of(
        blocks["own"][HELD], targets[HELD]
    )
    whole = Sums.of(blocks["own"][KNOWN], targets[KNOWN])
    for name in ("gram", "cross", "columns", "classes", "count"):
        np.testing.assert_allclose(getattr(both, name), getattr(whole, name))


def test_predictions_for_all_nodes_are_those_of_the_same_classifier(problem) -> None:
    blocks, labels = problem
    signal = blocks["own"].astype(np.float32)
    found = predict_all(
        blocks["own"][KNOWN], labels[KNOWN], signal, num_classes=3, train=TRAIN, held=HELD
    )
    assert found.shape == (90,)
    assert (found[TEST] == scores(blocks, labels, ("own",)).argmax(axis=1)).all()
