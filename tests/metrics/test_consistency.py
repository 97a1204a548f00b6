"""Ties are decided on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.errors import InputError
from heterophily.metrics.class_means import ClassMeans
from heterophily.metrics.consistency import is_consistent, share


def means(own: list[float], other: list[float], scale: list[float]) -> ClassMeans:
    size = len(own)
    return ClassMeans(np.array(own), np.array(other), np.array(scale), np.ones(size, np.bool_))


def test_a_gap_within_the_tolerance_is_a_tie_and_one_beyond_is_not() -> None:
    values = means([1.0, 1.0, 1.0, 1.0], [1 - 1e-9, 1 - 1e-13, 1 + 1e-13, 1 + 1e-9], [1.0] * 4)
    consistent = is_consistent(values, tolerance=1e-10, ties="consistent")
    inconsistent = is_consistent(values, tolerance=1e-10, ties="inconsistent")
    assert consistent.tolist() == [True, True, True, False]
    assert inconsistent.tolist() == [True, False, False, False]


def test_the_tolerance_follows_the_scale() -> None:
    values = means([0.0, 0.0], [1e-9, 1e-9], [1.0, 1e4])
    assert is_consistent(values, tolerance=1e-12).tolist() == [False, True]


def test_zero_rows_follow_their_own_rule() -> None:
    values = means([0.0, 0.0], [0.0, 0.0], [0.0, 1.0])  # a zero row, and a tie at zero
    assert is_consistent(values, tolerance=1e-12).tolist() == [True, True]
    flags = is_consistent(values, tolerance=1e-12, zero_rows="inconsistent")
    assert flags.tolist() == [False, True]
    assert share(flags, values) == 0.5


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(InputError, match="ties='true'; choose 'consistent' or 'inconsistent'"):
        is_consistent(means([0.0], [0.0], [0.0]), tolerance=0.0, ties="true")  # type: ignore[arg-type]
