"""Filters are values."""

from __future__ import annotations

import pytest

from heterophily.errors import InputError
from heterophily.filters.filter import FILTERS, HIGH, IDENTITY, LOW, Filter


def test_low_and_high_pass_add_up_to_identity() -> None:
    assert LOW + HIGH == IDENTITY


def test_the_three_channels_of_the_paper_have_names() -> None:
    assert FILTERS == {"low": LOW, "high": HIGH, "identity": IDENTITY}


def test_coefficients_must_be_finite() -> None:
    with pytest.raises(InputError, match="finite"):
        Filter(float("nan"), 1.0)
