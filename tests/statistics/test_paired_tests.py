"""Paired tests, against SciPy and values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from heterophily.errors import InputError
from heterophily.statistics.paired_tests import (
    all_pairs,
    holm,
    paired_test,
    win_tie_loss,
)

A = np.array([0.90, 0.86, 0.95, 0.91, 0.88, 0.93, 0.90, 0.87])
B = np.array([0.85, 0.87, 0.90, 0.88, 0.80, 0.90, 0.84, 0.85])


def test_without_test_nodes_the_corrected_test_is_the_plain_paired_t_test() -> None:
    difference, p_value, _ = paired_test(A, B, test_to_train=0.0)
    plain = stats.ttest_rel(A, B)
    assert difference == pytest.approx((A - B).mean())
    assert p_value == pytest.approx(plain.pvalue, rel=1e-12)


def test_the_correction_widens_the_variance_by_the_ratio_of_the_sets() -> None:
    d = A - B
    t = d.mean() / math.sqrt((1 / 8 + 1 / 3) * d.var(ddof=1))
    _, p_value, _ = paired_test(A, B, test_to_train=1 / 3)
    assert p_value == pytest.approx(2 * stats.t.sf(abs(t), 7), rel=1e-12)


def test_the_signed_rank_test_is_exact() -> None:
    _, _, p_value = paired_test(A, B, test_to_train=0.0)
    distinct = np.array([0.05, -0.011, 0.052, 0.03, 0.08, 0.031, 0.06, 0.02])
    _, _, without_ties = paired_test(distinct, np.zeros(8), test_to_train=0.0)
    assert without_ties == pytest.approx(stats.wilcoxon(distinct, method="exact").pvalue)
    assert 0 < p_value < 0.05


def test_equal_models_do_not_differ() -> None:
    assert paired_test(A, A, test_to_train=1 / 3) == (0.0, 1.0, 1.0)


def test_equal_differences_are_judged_by_their_number() -> None:
    """Two splits that agree prove nothing; eight that do have probability 2/256."""
    assert paired_test(A[:2], A[:2] - 0.5, test_to_train=1 / 3)[1] == 0.5
    assert paired_test(A, A - 0.5, test_to_train=1 / 3)[1] == pytest.approx(2 / 256)


def test_the_corrected_test_keeps_its_level_where_the_plain_one_does_not() -> None:
    """Two equal models on overlapping splits: correlated differences, no true difference."""
    rng = np.random.default_rng(0)
    plain = corrected = 0
    for _ in range(400):
        shared = rng.normal(0, math.sqrt(1 / 3))  # what overlapping training sets have in common
        differences = shared + rng.normal(0, 1, 10)
        plain += paired_test(differences, np.zeros(10), test_to_train=0.0)[1] < 0.05
        corrected += paired_test(differences, np.zeros(10), test_to_train=1 / 3)[1] < 0.05
    assert plain / 400 > 0.2
    assert corrected / 400 < 0.08


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [([0.5, 0.6], [0.5], "equal numbers of splits, got 2 and 1"), ([0.5], [0.5], "at least two")],
)
def test_unpaired_values_are_refused(first: list[float], second: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        paired_test(first, second, test_to_train=0.3)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.02, 0.03, 0.2]) == pytest.approx([0.04, 0.06, 0.06, 0.2])
    assert holm([]) == []


def test_all_pairs_are_tested_once_and_corrected_together() -> None:
    tests = all_pairs({"a": A, "b": B, "c": A}, test_to_train=1 / 3)
    assert [(t.first, t.second) for t in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [t.corrected for t in tests] == pytest.approx(holm([t.p_value for t in tests]))


def test_wins_ties_and_losses_by_hand() -> None:
    clear = {"a": A, "b": A - 0.3}
    same = {"a": A, "b": A}
    families = {
        "one": all_pairs(clear, test_to_train=1 / 3),
        "two": all_pairs(same, test_to_train=1 / 3),
    }
    assert win_tie_loss(families) == {("a", "b"): (1, 1, 0), ("b", "a"): (0, 1, 1)}
