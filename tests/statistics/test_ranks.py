"""Ranks and critical differences, against SciPy and values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from heterophily.errors import InputError
from heterophily.statistics.paired_tests import paired_test
from heterophily.statistics.ranks import average_ranks, critical_difference, rank_correlations


def test_ranks_share_ties_and_skip_missing_values() -> None:
    means = np.array([[0.9, np.nan], [0.9, 0.5], [0.1, 0.6], [np.nan, np.nan]])
    assert average_ranks(means)[:3].tolist() == [1.5, 1.75, 2.0]
    assert math.isnan(average_ranks(means)[3])


def test_rank_correlation_of_equal_and_opposite_orders() -> None:
    ours = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    assert rank_correlations(ours, ours) == [1.0, 1.0]
    assert rank_correlations(ours, ours[::-1]) == [-1.0, -1.0]
    assert rank_correlations(ours[:2], ours[:2]) == [None, None]  # two models are no order
    ours[0, 1] = np.nan
    assert rank_correlations(ours, ours) == [1.0, None]


@pytest.mark.parametrize(("count", "quantile"), [(2, 1.960), (4, 2.569), (10, 3.164)])
def test_the_critical_difference_uses_the_tabled_quantiles(count: int, quantile: float) -> None:
    """The quantiles of Nemenyi's test at 5 % as printed by Demsar (2006), Table 5."""
    means = np.random.default_rng(0).random((count, 14))
    found = critical_difference([str(number) for number in range(count)], means)
    expected = quantile * math.sqrt(count * (count + 1) / (6 * 14))
    assert found.difference == pytest.approx(expected, rel=5e-4)


def test_friedmans_p_value_and_the_ranks_are_those_of_scipy() -> None:
    means = np.round(np.random.default_rng(1).random((4, 14)), 1)  # with ties
    found = critical_difference(list("abcd"), means)
    assert found.p_value == pytest.approx(stats.friedmanchisquare(*means).pvalue, rel=1e-9)
    ranks = stats.rankdata(-means, axis=0).mean(axis=1)
    assert [found.ranks[name] for name in "abcd"] == pytest.approx(ranks.tolist())
    assert list(found.ranks.values()) == sorted(ranks)


def test_groups_end_where_ranks_differ_by_more_than_the_critical_difference() -> None:
    means = np.tile([[0.9], [0.8], [0.7], [0.6]], 60)
    found = critical_difference(list("abcd"), means)
    assert found.groups == ()
    assert list(found.ranks) == list("abcd")


def test_too_little_to_rank_is_refused() -> None:
    with pytest.raises(InputError, match="at least two models on two common datasets"):
        critical_difference(["a"], np.ones((1, 5)))


def test_of_two_models_the_p_value_is_that_of_the_signed_rank_test() -> None:
    means = np.random.default_rng(2).random((2, 9))
    expected = paired_test(*means, test_to_train=1 / 3)[2]
    assert critical_difference(["a", "b"], means).p_value == expected


def test_models_that_are_equal_everywhere_have_p_value_one() -> None:
    assert critical_difference(list("abc"), np.full((3, 5), 0.7)).p_value == 1.0
