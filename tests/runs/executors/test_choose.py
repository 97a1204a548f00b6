"""Executors by name."""

from __future__ import annotations

import sys

import pytest

from heterophily.errors import InputError, MissingExtraError, UnknownNameError
from heterophily.runs.executors.choose import executor_of
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import LocalProcesses
from heterophily.runs.executors.ray import RayCluster


def test_names_and_addresses() -> None:
    assert isinstance(executor_of(workers=1), InProcess)
    assert isinstance(executor_of("local", workers=2), LocalProcesses)
    here, there = executor_of("ray", workers=2), executor_of("ray://head:6379")
    assert isinstance(here, RayCluster)
    assert (here.address, here.workers) == (None, 2)
    assert isinstance(there, RayCluster)
    assert (there.address, there.workers) == ("head:6379", None)


def test_an_unknown_executor_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown executor 'dask'; known: local, ray"):
        executor_of("dask")
    with pytest.raises(InputError, match="use at least one"):
        executor_of("local", workers=0)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterophily\[cluster\]'"):
        executor_of("ray")._connect(1)  # type: ignore[attr-defined]
