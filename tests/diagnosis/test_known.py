"""The stored metrics of well-known datasets are those the package computes."""

from __future__ import annotations

import pytest

from heterophily.data.catalog import load
from heterophily.diagnosis.known import ANCHORS, known_metrics
from heterophily.metrics.catalog import LINEAR, compute_metrics


def test_ten_datasets_have_every_metric() -> None:
    assert len(known_metrics()) == 10
    assert set(ANCHORS) < set(known_metrics())
    for values in known_metrics().values():
        assert list(values) == list(LINEAR)


@pytest.mark.parametrize("name", ["texas", "cora", "squirrel"])
def test_stored_values_are_the_computed_ones(name: str, data_folder) -> None:
    values = compute_metrics(load(name, data_folder=data_folder)).values
    assert known_metrics()[name] == pytest.approx(values, abs=5.1e-5)
