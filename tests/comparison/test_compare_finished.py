"""Finished runs compare like ``compare``; what is missing is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_study import small_graph

from heterophily.comparison.compare import compare
from heterophily.comparison.compare_finished import compare_portraits, compare_stored
from heterophily.comparison.portraits import portraits as portraits_of
from heterophily.errors import InputError
from heterophily.evaluation.split_rules import splits_of
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.stores.url import open_store

HOW = {"preset": None, "engine": "torch", "workers": 1, "max_epochs": 12}


def test_portraits_compare_like_compare(tmp_path: Path) -> None:
    """Keys, splits and accuracies are those of compare; it then finds every run finished."""
    graph, names = small_graph(), ["sgc-1", "mlp-1"]
    how = {**HOW, "max_epochs": None, "engine": "auto"}
    with open_store(tmp_path / "runs.sqlite") as store:
        portraits = portraits_of(graph, names, repeats=2, store=store, **how)
        before = len(store)
        theirs = compare(graph, names, store=store, repeats=2, executor=InProcess())
        assert len(store) == before == 4
        stored = compare_stored(graph, names, store=store, repeats=2)
    ours = compare_portraits(portraits)
    expected = theirs.to_dict()
    for found in (ours.to_dict(), stored.to_dict()):
        for name in ("graph", "splits", "best", "rivals", "tests"):
            assert found[name] == expected[name]
        assert [c["test"] for c in found["models"]] == [c["test"] for c in expected["models"]]


def test_one_model_or_one_split_has_no_test(tmp_path: Path) -> None:
    portraits = portraits_of(small_graph(), ["gcn", "mlp-1"], **HOW)
    assert compare_portraits(portraits).tests == ()
    assert compare_portraits({"gcn": portraits["gcn"]}).best.row == "gcn"


def test_a_store_without_the_runs_is_told(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "runs.sqlite") as store,
        pytest.raises(InputError, match="4 of 4 runs"),
    ):
        compare_stored(small_graph(), ["gcn", "mlp-1"], store=store, repeats=2, engine="torch")


def test_baselines_stand_beside_portraits_and_older_ones_get_their_scores(tmp_path: Path) -> None:
    graph = small_graph()
    portraits = portraits_of(graph, ["sgc-1", "mlp-1"], repeats=2, **HOW)
    drawn = list(splits_of(graph, "random", repeats=2))
    found = compare_portraits(portraits, graph=graph, splits=drawn)
    assert len(found.baselines["sgc-1"]) == 2
    assert np.sum(found.best.confusion) == 24
    without = {
        model: [
            replace(p, record=replace(p.record, outcome=replace(p.record.outcome, scores=None)))
            for p in every
        ]
        for model, every in portraits.items()
    }
    older = compare_portraits(without, graph=graph, splits=drawn)
    assert older.best.scores == found.best.scores
