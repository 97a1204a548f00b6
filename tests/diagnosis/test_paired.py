"""Scores node by node are those of scikit-learn, and differences err as often as they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from heterophily.diagnosis.paired import Difference, NodeScores, average, difference, node_scores
from heterophily.errors import UnknownNameError


def guesses(labels, skill: float, *, classes: int = 2, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return skill * np.eye(classes)[labels] + rng.normal(size=(labels.size, classes))


@pytest.fixture
def labels() -> np.ndarray:
    return (np.random.default_rng(0).random(200) < 0.2).astype(np.int64)


FOLD = np.arange(200) % 5


def test_accuracy_is_that_of_scikit_learn() -> None:
    labels = np.random.default_rng(0).integers(0, 4, 200)
    scores = guesses(labels, 1.0, classes=4)
    found = node_scores("accuracy", labels, scores, FOLD)
    assert found.mean == pytest.approx(accuracy_score(labels, scores.argmax(axis=1)))


def test_balanced_accuracy_is_that_of_scikit_learn() -> None:
    labels = np.minimum(np.random.default_rng(0).integers(0, 9, 200), 3)
    scores = guesses(labels, 1.0, classes=4)
    found = node_scores("balanced-accuracy", labels, scores, FOLD)
    assert found.mean == pytest.approx(balanced_accuracy_score(labels, scores.argmax(axis=1)))


def test_area_under_the_curve_is_that_of_scikit_learn_fold_by_fold(labels) -> None:
    scores = np.round(guesses(labels, 1.0), 1)  # with ties
    found = node_scores("roc-auc", labels, scores, FOLD)
    margin, areas, sizes = scores[:, 1] - scores[:, 0], [], []
    for fold in range(5):
        rows = fold == FOLD
        areas.append(roc_auc_score(labels[rows], margin[rows]))
        sizes.append(labels[rows].sum())
        assert found.values[rows & (labels == 1)].mean() == pytest.approx(areas[-1])
        assert found.values[rows & (labels == 0)].mean() == pytest.approx(areas[-1])
    assert found.mean == pytest.approx(np.average(areas, weights=sizes))


def test_constant_scores_have_an_area_of_one_half(labels) -> None:
    assert node_scores("roc-auc", labels, np.ones((200, 2)), FOLD).mean == 0.5


def test_a_fold_without_one_of_the_classes_has_no_area() -> None:
    labels, fold = np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1])
    found = node_scores("roc-auc", labels, np.array([[1.0, 0], [0, 1], [0, 1], [0, 1]]), fold)
    np.testing.assert_array_equal(np.isnan(found.values), [False, False, True, True])
    assert found.mean == 1.0


def test_nodes_that_were_not_scored_do_not_count(labels) -> None:
    scores = guesses(labels, 1.0)
    scores[::2] = np.nan
    for name in ("accuracy", "balanced-accuracy", "roc-auc"):
        part = node_scores(name, labels[1::2], scores[1::2], FOLD[1::2])
        assert node_scores(name, labels, scores, FOLD).mean == pytest.approx(part.mean)


def test_unknown_scores_are_refused_with_the_known_ones(labels) -> None:
    with pytest.raises(UnknownNameError, match="unknown score 'auc'"):
        node_scores("auc", labels, guesses(labels, 1.0), FOLD)


def test_error_of_the_area_is_that_of_a_bootstrap(labels) -> None:
    """DeLong's variance of a difference of two areas, up to the factor for cross-validation."""
    first, second = guesses(labels, 1.2), guesses(labels, 0.6, seed=1)
    one = np.zeros(200, np.int64)
    found = difference(*(node_scores("roc-auc", labels, s, one) for s in (first, second)), folds=5)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(300):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(labels == k), (labels == k).sum()) for k in (0, 1)]
        )
        drawn.append(
            roc_auc_score(labels[rows], (first[:, 1] - first[:, 0])[rows])
            - roc_auc_score(labels[rows], (second[:, 1] - second[:, 0])[rows])
        )
    error = (found.high - found.value) / stats.t.ppf(0.975, 45) / np.sqrt(1 + 5 / 4)
    assert error == pytest.approx(np.std(drawn), rel=0.2)


def test_equal_classifiers_do_not_differ_and_the_interval_is_not_empty(labels) -> None:
    scores = node_scores("accuracy", labels, guesses(labels, 1.0), FOLD)
    found = difference(scores, scores, folds=5)
    assert (found.value, found.p_value) == (0.0, 1.0)
    assert found.low < 0 < found.high
    assert not found.is_better
    assert not found.is_worse


def test_swapping_the_two_turns_the_sign(labels) -> None:
    first, second = (node_scores("accuracy", labels, guesses(labels, s), FOLD) for s in (2, 0.1))
    there, back = difference(first, second, folds=5), difference(second, first, folds=5)
    assert there.is_better
    assert back.is_worse
    assert (back.value, back.low, back.high) == pytest.approx(
        (-there.value, -there.high, -there.low)
    )
    assert back.p_value == pytest.approx(there.p_value)


def test_accuracy_by_hand() -> None:
    """Nodes 1, 1, 1, 0 against 0, 0, 1, 0: 0.5 better, variance 1/4, four folds: x (1 + 4/3)."""
    everyone = ((np.arange(4), 1.0),)
    first, second = (NodeScores(np.array(v, float), everyone) for v in ([1, 1, 1, 0], [0, 0, 1, 0]))
    found = difference(first, second, folds=4)
    error = np.sqrt((1 + 4 / 3) * 0.25 / 4)
    assert found.value == 0.5
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 3) * error)
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.5 / error, 3))


def test_a_rare_class_counts_with_its_few_nodes() -> None:
    """Four rare nodes decide the area: the t-distribution is that of about three, not of 996."""
    rng = np.random.default_rng(0)
    labels = (np.arange(1000) < 4).astype(np.int64)
    fold = np.zeros(1000, np.int64)
    first = guesses(labels, 1.0)
    second = np.where(labels[:, None] == 1, rng.normal(size=(1000, 2)), first)
    found = difference(*(node_scores("roc-auc", labels, s, fold) for s in (first, second)), folds=5)
    error = (found.high - found.value) / stats.t.ppf(0.975, 3)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.value) / error, 3), rel=0.2)


def test_nothing_scored_is_nothing_known() -> None:
    nothing = NodeScores(np.full(4, np.nan), ((np.arange(4), 1.0),))
    assert difference(nothing, nothing, folds=5) == Difference(0.0, -1.0, 1.0, 1.0)
    assert np.isnan(nothing.mean)


def test_size_counts_beside_significance() -> None:
    """T6: with a million nodes everything is significant; below a point nothing is decided."""
    tiny = Difference(0.002, 0.0015, 0.0025, 1e-9)
    assert not tiny.is_better
    assert not Difference(-0.002, -0.0025, -0.0015, 1e-9).is_worse
    assert Difference(0.01, 0.005, 0.015, 1e-9).is_better
    assert not Difference(0.2, -0.1, 0.5, 0.2).is_better


def test_the_best_of_several_is_less_sure() -> None:
    found = Difference(0.1, 0.05, 0.15, 0.01)
    wide = found.among(4)
    assert wide.value == found.value
    assert wide.low < found.low < found.high < wide.high
    assert wide.p_value == 0.04
    assert found.among(1) == found
    assert Difference(0.1, 0.0, 0.2, 0.5).among(8).p_value == 1.0


def test_repeats_are_averaged_over_those_that_scored_a_node() -> None:
    everyone = ((np.arange(3), 1.0),)
    many = [NodeScores(np.array(v), everyone) for v in ([1, np.nan, np.nan], [0, 1.0, np.nan])]
    np.testing.assert_array_equal(average(many).values, [0.5, 1.0, np.nan])


@pytest.mark.parametrize("score", ["accuracy", "roc-auc"])
def test_equal_skill_is_called_different_in_at_most_one_of_twenty_draws(score: str) -> None:
    """Nearest-centre classifiers on two halves of equally good columns, cross-validated."""
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        labels = (rng.random(100) < (0.5 if score == "accuracy" else 0.25)).astype(np.int64)
        columns = rng.normal(size=(2, 100, 5)) + 0.5 * labels[:, None]
        fold = rng.permutation(100) % 5
        scored = []
        for half in columns:
            held_out = np.empty((100, 2))
            for test in range(5):
                centres = np.array([half[(fold != test) & (labels == k)].mean(0) for k in (0, 1)])
                rows = fold == test
                held_out[rows] = -np.square(half[rows][:, None] - centres).sum(axis=2)
            scored.append(node_scores(score, labels, held_out, fold))
        found.append(difference(*scored, folds=5).p_value < 0.05)
    assert np.mean(found) <= 0.06
