"""Intervals: known values, a width at the extremes, and coverage that holds what it promises."""

import numpy as np
import pytest
from scipy import stats

from heterophily.data.splits import Split, random_splits
from heterophily.evaluation import intervals
from heterophily.evaluation.intervals import (
    Interval,
    TestSizes,
    area_interval,
    confusion_interval,
    hybrid_interval,
    mean_interval,
    paired_bootstrap,
    score_interval,
    wilson,
)
from heterophily.evaluation.scores import SCORES


def sizes(nodes, *, classes=2, splits=1):
    return TestSizes(np.full(classes, nodes / classes), splits, nodes, 1 / 3)


@pytest.mark.parametrize(("right", "count"), [(0, 7), (3, 7), (6, 6), (37, 41)])
def test_wilson_is_that_of_scipy(right, count):
    wanted = stats.binomtest(right, count).proportion_ci(0.95, method="wilson")
    found = wilson(right / count, count)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def test_perfect_scores_of_six_nodes_have_wide_intervals():
    confusion = np.diag([3, 3])
    for name in ("accuracy", "balanced-accuracy", "macro-f1", "roc-auc"):
        found = score_interval(name, [1.0], sizes(6), confusion)
        assert found.low < 0.75
        assert found.high == 1.0
    assert score_interval("average-precision", [1.0], sizes(6), confusion) is None


def test_ten_equal_splits_are_not_ten_times_the_evidence():
    once = score_interval("accuracy", [1.0], sizes(6))
    ten = score_interval("accuracy", [1.0] * 10, sizes(6, splits=10))
    assert ten == once


def test_the_spread_over_splits_can_widen_the_interval():
    steady = score_interval("accuracy", [0.5] * 4, sizes(2000, splits=4))
    wild = score_interval("accuracy", [0.3, 0.7, 0.4, 0.6, 0.5], sizes(2000, splits=5))
    few = score_interval("accuracy", [0.3, 0.7], sizes(2000, splits=2))
    assert few == steady  # of two splits the spread itself is unknown
    assert wild.low < steady.low < steady.high < wild.high


def test_intervals_get_narrower_with_nodes_and_hold_the_value():
    for name in ("accuracy", "balanced-accuracy", "macro-f1", "roc-auc"):
        widths = []
        for nodes in (20, 200, 2000):
            confusion = np.array([[0.4, 0.1], [0.1, 0.4]]) * nodes
            found = score_interval(name, [0.8], sizes(nodes), confusion)
            assert found.low < 0.8 < found.high
            widths.append(found.high - found.low)
        assert widths == sorted(widths, reverse=True)


def test_area_interval_covers_the_true_area():
    rng, area, hits = np.random.default_rng(0), stats.norm.cdf(1 / np.sqrt(2)), 0
    labels = np.repeat([0, 1], [40, 12])
    for _ in range(300):
        scores = stats.norm.cdf(rng.normal(size=labels.size) + labels)
        found = SCORES["roc-auc"](labels, np.column_stack([1 - scores, scores]))
        interval = area_interval(found, 12, 40)
        hits += interval.low <= area <= interval.high
    assert hits >= 0.92 * 300


def test_confusion_interval_covers_the_true_balanced_accuracy():
    rng, hits = np.random.default_rng(1), 0
    for _ in range(100):
        recalls = rng.binomial([60, 15], [0.9, 0.6])
        confusion = np.array([[recalls[0], 60 - recalls[0]], [15 - recalls[1], recalls[1]]])
        interval = confusion_interval("balanced-accuracy", confusion)
        hits += interval.low <= 0.75 <= interval.high
    assert hits >= 90


def test_splits_that_share_no_test_node_count_together_and_others_once():
    labels = np.arange(40) % 2
    folds = [
        Split.from_parts(np.r_[20:39], [39], np.arange(10 * k, 10 * k + 10), num_nodes=40)
        for k in (0, 1)
    ]
    assert TestSizes.of(labels, folds).classes.tolist() == [10, 10]
    again = TestSizes.of(labels, [folds[0], folds[0]])
    assert again.classes.tolist() == [5, 5]
    assert (again.nodes, again.splits) == (10, 2)
    drawn = list(random_splits(labels, repeats=3, seed=0))
    assert TestSizes.of(labels, drawn).classes.tolist() == [4, 4]
    assert TestSizes.of(labels, drawn).test_to_train == pytest.approx(1 / 3)


def test_mean_interval_is_the_corrected_t_interval():
    values = [0.1, 0.3, 0.2, 0.25]
    found = mean_interval(values, test_to_train=1 / 3)
    width = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) * np.sqrt(1 / 4 + 1 / 3)
    assert (found.low, found.high) == pytest.approx(
        (np.mean(values) - width, np.mean(values) + width)
    )


@pytest.mark.parametrize("name", ["accuracy", "roc-auc"])
def test_paired_bootstrap_is_repeatable_and_zero_for_equal_models(name):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [150, 50])
    good = np.clip(0.3 + 0.3 * labels + 0.2 * rng.normal(size=200), 0, 1)
    good, bad = (np.column_stack([1 - p, p]) for p in (good, rng.random(200)))
    first, again = (paired_bootstrap(name, labels, good, bad) for _ in range(2))
    assert first == again
    assert 0 < first.low < first.high
    assert paired_bootstrap(name, labels, good, good) == Interval(0.0, 0.0)


def test_hybrid_interval_has_a_width_where_all_nodes_are_right():
    both = wilson(1.0, 6)
    found = hybrid_interval(1.0, 1.0, both, both)
    assert found.low < -0.3
    assert found.high > 0.3


@pytest.mark.parametrize("name", ["accuracy", "roc-auc"])
def test_very_many_nodes_are_resampled_by_their_counts_with_the_same_width(name, monkeypatch):
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 6000)
    good, bad = (
        np.column_stack([1 - p, p])
        for p in (np.clip(labels * s + rng.normal(0.3, 0.4, 6000), 0, 1) for s in (0.5, 0.3))
    )
    plain = paired_bootstrap(name, labels, good, bad)
    monkeypatch.setattr(intervals, "LARGE", 1000)
    monkeypatch.setattr(intervals, "SMALLER", 1500)
    found = paired_bootstrap(name, labels, good, bad)
    width = plain.high - plain.low
    assert found.low == pytest.approx(plain.low, abs=0.2 * width)
    assert found.high == pytest.approx(plain.high, abs=0.2 * width)
    assert found == paired_bootstrap(name, labels, good, bad)
