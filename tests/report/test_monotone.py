"""Order violations and rank correlation, counted by hand."""

from __future__ import annotations

import math

from heterophily.report.monotone import monotonicity


def test_the_example_of_the_appendix_is_in_order_under_aggregation_homophily() -> None:
    accuracy = [0.8, 0.5, 0.9]
    by_edge = monotonicity([0.1, 0.5, 0.9], accuracy)
    by_aggregation = monotonicity([0.7, 0.4, 0.8], accuracy)
    assert (by_edge.violations, by_edge.pairs) == (1, 3)
    assert (by_aggregation.violations, by_aggregation.spearman) == (0, 1.0)


def test_a_falling_curve_has_every_pair_out_of_order() -> None:
    found = monotonicity([1, 2, 3, 4], [4, 3, 2, 1])
    assert (found.violations, found.pairs, found.spearman) == (6, 6, -1.0)


def test_equal_metrics_cannot_be_out_of_order() -> None:
    found = monotonicity([0.0, 0.0, 1.0], [0.9, 0.1, 0.5])
    assert (found.violations, found.pairs) == (1, 2)


def test_a_constant_curve_has_no_correlation() -> None:
    assert math.isnan(monotonicity([0.1, 0.2], [0.5, 0.5]).spearman)
    assert math.isnan(monotonicity([0.1], [0.5]).spearman)
