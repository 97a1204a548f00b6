"""Portraits are trained once and agree with the trainer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_study import small_graph

from heterophily.comparison.portraits import portraits
from heterophily.comparison.train import train
from heterophily.errors import InputError, UnknownNameError
from heterophily.runs import job
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store
from heterophily.training.config import TrainConfig

HOW = {"preset": None, "engine": "torch", "workers": 1, "max_epochs": 12}


def test_a_portrait_shows_the_model_that_train_reports(tmp_path: Path) -> None:
    graph = small_graph()
    found = portraits(graph, ["acm-gcn"], repeats=2, **HOW)["acm-gcn"]
    report = train(
        "acm-gcn", graph, repeats=2, config=TrainConfig(max_epochs=12), workers=1, engine="torch"
    )
    for made, result in zip(found, report.results, strict=True):
        assert made.test_accuracy == result.test_accuracy
        assert np.array_equal(made.predictions, result.predictions)
        assert np.array_equal(made.logits.argmax(1), made.predictions)
        is_right = made.predictions == made.labels
        assert is_right[made.test].mean() == pytest.approx(made.test_accuracy)
        assert made.channels == ("low", "high", "identity")
        assert [w.shape for w in made.weights] == [(graph.num_nodes, 3)] * 2
        for weights in made.weights:
            assert weights.sum(axis=1) == pytest.approx(np.ones(graph.num_nodes), abs=1e-5)


def test_the_channels_mixed_by_the_weights_are_the_logits(tmp_path: Path) -> None:
    made = portraits(small_graph(), ["acm-gcn"], **HOW)["acm-gcn"][0]
    mixed = sum(made.weights[-1][:, [k]] * made.outputs[k] for k in range(3))
    assert mixed == pytest.approx(made.logits, abs=1e-4)


def test_what_is_there_is_not_trained_again(tmp_path: Path, monkeypatch) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        _not_trained_again(store, monkeypatch)


def _not_trained_again(store: Store, monkeypatch) -> None:
    first = portraits(small_graph(), ["gcn"], repeats=2, store=store, **HOW)

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(job, "train_run", refuse)
    again = portraits(small_graph(), ["gcn"], repeats=2, store=store, **HOW)
    assert [p.record.answer for p in again["gcn"]] == [p.record.answer for p in first["gcn"]]


def test_a_model_without_mixing_has_no_weights(tmp_path: Path) -> None:
    made = portraits(small_graph(), ["mlp-2"], **HOW)["mlp-2"][0]
    assert (made.channels, made.weights, made.outputs) == ((), (), ())


def test_without_training_missing_runs_are_counted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 of 2 trained models are not in .* --no-train"):
        portraits(small_graph(), ["gcn"], repeats=2, only_finished=True, **HOW)


def test_an_interrupted_batch_keeps_what_is_finished(tmp_path: Path, monkeypatch) -> None:
    """Two of three runs were done when Ctrl-C came: the next call trains the third only."""
    trained: list[int] = []
    whole = job.train_run

    def interrupted(run, *arguments, **options):
        if len(trained) == 2:
            raise KeyboardInterrupt
        trained.append(run.split.index)
        return whole(run, *arguments, **options)

    monkeypatch.setattr(job, "train_run", interrupted)
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store, pytest.raises(KeyboardInterrupt):
        portraits(small_graph(), ["sgc-1"], repeats=3, store=store, **HOW)

    def counted(run, *arguments, **options):
        trained.append(run.split.index)
        return whole(run, *arguments, **options)

    monkeypatch.setattr(job, "train_run", counted)
    with open_store(path) as store:
        found = portraits(small_graph(), ["sgc-1"], repeats=3, store=store, **HOW)
    assert trained == [0, 1, 2]
    assert [made.split for made in found["sgc-1"]] == [0, 1, 2]


def test_a_store_saves_the_training_of_a_portrait(tmp_path: Path) -> None:
    graph = small_graph()
    with open_store(tmp_path / "runs.sqlite") as store:
        first = portraits(graph, ["gcn"], repeats=2, store=store, **HOW)
        again = portraits(graph, ["gcn"], repeats=2, store=store, **HOW)
        assert len(store.starts()) == 2
    for before, after in zip(first["gcn"], again["gcn"], strict=True):
        assert np.array_equal(before.logits, after.logits)


def test_an_unknown_preset_is_refused_even_where_it_has_no_settings(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        portraits(small_graph(), ["gcn"], preset="papr", engine="torch")
