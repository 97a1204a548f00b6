"""The shared-Gram ridge classifiers are those of scikit-learn, and never see the test fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from heterophily.diagnosis.probe import _mixture
from heterophily.diagnosis.ridge import (
    ALPHAS,
    majority_accuracy,
    nested_accuracy,
    stratified_folds,
)


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 120)
    own = rng.normal(size=(120, 6)) + 0.9 * np.eye(3, 6)[labels]
    low = rng.normal(size=(120, 6)) + 0.9 * np.eye(3, 6)[labels][:, ::-1]
    return own, low, labels, stratified_folds(labels, folds=5, rng=rng)


def sklearn_nested(design, labels, fold, alphas):
    """Slow reference: the same nested cross-validation with scikit-learn."""
    result = []
    for test in range(5):
        inner = []
        for alpha in alphas:
            right = 0
            for held in set(range(5)) - {test}:
                train = (fold != test) & (fold != held)
                model = RidgeClassifier(alpha=alpha).fit(design[train], labels[train])
                right += (model.predict(design[fold == held]) == labels[fold == held]).sum()
            inner.append(right)
        model = RidgeClassifier(alpha=alphas[int(np.argmax(inner))])
        model.fit(design[fold != test], labels[fold != test])
        result.append(model.score(design[fold == test], labels[fold == test]))
    return np.array(result)


def test_single_channel_equals_scikit_learn(problem) -> None:
    own, low, labels, fold = problem
    found = nested_accuracy(
        np.hstack([own, low]),
        labels,
        fold,
        classifiers={
            "own": [np.array([[2.0], [0.0]])],
            "high": [np.array([[0.5], [-0.5]])],
        },
    )
    np.testing.assert_allclose(found["own"], sklearn_nested(2.0 * own, labels, fold, ALPHAS))
    high = 0.5 * (own - low)
    np.testing.assert_allclose(found["high"], sklearn_nested(high, labels, fold, ALPHAS))


def test_two_blocks_stand_for_the_stack_of_three(problem) -> None:
    own, low, labels, fold = problem
    scales, weights = (0.7, 1.3, 0.9), (1.0, 0.1, 0.1)
    blocks = zip((own, low, own - low), scales, weights, strict=True)
    stack = np.hstack([np.sqrt(w / 1.2) * scale * block for block, scale, w in blocks])
    found = nested_accuracy(
        np.hstack([own, low]), labels, fold, classifiers={"mixed": [_mixture(*scales, weights)]}
    )
    np.testing.assert_allclose(found["mixed"], sklearn_nested(stack, labels, fold, ALPHAS))


def test_test_labels_do_not_influence_their_own_predictions(problem) -> None:
    """Relabelling the test fold by a cycle moves its accuracy as a fixed prediction would."""
    own, low, labels, fold = problem
    base, designs = np.hstack([own, low]), {"own": [np.array([[1.0], [0.0]])]}
    total = 0.0
    for shift in range(3):
        changed = np.where(fold == 0, (labels + shift) % 3, labels)
        total += nested_accuracy(base, changed, fold, classifiers=designs)["own"][0]
    assert total == pytest.approx(1.0)  # one prediction per node is right under one of the cycles


def test_pure_noise_is_not_learnt() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 2
    base = rng.normal(size=(600, 40))
    fold = stratified_folds(labels, folds=5, rng=rng)
    found = nested_accuracy(base, labels, fold, classifiers={"own": [np.ones((1, 1))]})
    assert abs(found["own"].mean() - 0.5) < 0.06


def test_the_better_of_several_designs_is_chosen() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    good, noise = labels[:, None] + 0.01 * rng.normal(size=(200, 1)), rng.normal(size=(200, 1))
    fold = stratified_folds(labels, folds=5, rng=rng)
    only_noise, only_good = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
    found = nested_accuracy(
        np.hstack([good, noise]), labels, fold, classifiers={"both": [only_noise, only_good]}
    )
    assert (found["both"] == 1.0).all()


def test_folds_are_balanced_in_size_and_class() -> None:
    labels = np.repeat([0, 1, 2], [3, 50, 18])
    fold = stratified_folds(labels, folds=5, rng=np.random.default_rng(0))
    sizes = np.bincount(fold, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for number in range(3):
        share = np.bincount(fold[labels == number], minlength=5)
        assert share.max() - share.min() <= 1


def test_majority_is_that_of_the_other_folds() -> None:
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    fold = np.array([0, 1, 2, 0, 0, 1, 2])
    np.testing.assert_allclose(majority_accuracy(labels, fold), [1 / 3, 1 / 2, 1 / 2])
