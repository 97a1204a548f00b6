"""The queue: threads, stopping, selection, coverage, interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.engine import run as engine_run
from heterophily.engine.plan import NotCoveredError
from heterophily.engine.run import NativeEngine, run
from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.native.library import ISA_VARIABLE, engine, processor_flags
from heterophily.runs.engines import engine_for
from heterophily.training.config import TrainConfig
from heterophily.training.early_stopping import STOPPING_RULES
from heterophily.training.fit import fit
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas
from heterophily.training.selection import SELECTION_SCORES, ranked_right


def tasks(made: Any, count: int = 5) -> list[Replica]:
    config = made.config.replace(max_epochs=40)
    return [
        Replica(made.build, made.split, config.replace(lr=0.01 * (i + 1)), i) for i in range(count)
    ]


def assert_same(first: Any, second: Any) -> None:
    np.testing.assert_array_equal(first.history.train_loss, second.history.train_loss)
    np.testing.assert_array_equal(first.history.validation_loss, second.history.validation_loss)
    np.testing.assert_array_equal(first.predictions, second.predictions)
    assert (first.epochs, first.best_epoch, first.status) == (
        second.epochs,
        second.best_epoch,
        second.status,
    )


def test_replica_alone_equals_replica_among_others_on_any_number_of_threads(
    problem: Callable[..., Any],
) -> None:
    made = problem("acm-gcn", dropout=0.5)
    work = tasks(made)
    together = run(work, made.inputs, made.graph.labels, threads=3).results
    for number, task in enumerate(work):
        alone = run([task], made.inputs, made.graph.labels, threads=1).results[0]
        assert_same(alone, together[number])


@pytest.mark.parametrize("stopping", ["loss-window", "patience", "none"])
@pytest.mark.parametrize("select_by", ["validation-loss", "validation-accuracy"])
def test_stopping_and_selection_are_those_of_fit(
    stopping: str, select_by: str, problem: Callable[..., Any]
) -> None:
    made = problem("acm-gcn", dropout=0.0)
    made.config = TrainConfig(
        lr=0.1, max_epochs=150, stopping=stopping, window=7, select_by=select_by
    )
    native = made.native()
    losses = native.history.validation_loss.tolist()
    rule = STOPPING_RULES[stopping]
    stops = [n for n in range(1, len(losses) + 1) if rule(losses[:n], 7)]
    assert stops == ([native.epochs] if native.status == "stopped" else [])
    scores = native.history.validation_accuracy if "acc" in select_by else -np.array(losses)
    assert native.best_epoch == int(np.argmax(scores)) + 1
    model = made.build()
    model.load_state_dict(native.state)
    model.eval()
    predictions = model(made.inputs).argmax(1).numpy()
    np.testing.assert_array_equal(native.predictions, predictions)
    test = made.split.test
    assert native.test_accuracy == (predictions == made.graph.labels)[test].mean()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("model", ["acm-gcn", "res-acm"])
def test_the_epoch_that_ranks_validation_nodes_best_is_reported(
    model: str, classes: int, problem: Callable[..., Any], make_graph: Callable[..., Graph]
) -> None:
    made = problem(model, make_graph(classes=classes), dropout=0.0)
    known = made.graph.labels[made.split.validation]
    chosen = {}
    for select_by in SELECTION_SCORES:
        made.config = TrainConfig(lr=0.05, max_epochs=40, stopping="none", select_by=select_by)
        found = made.native()
        model = made.build()
        model.load_state_dict(found.state)
        logits = model.eval()(made.inputs)[np.flatnonzero(made.split.validation)]
        chosen[select_by] = ranked_right(known, logits), found.best_epoch
    best, epoch = chosen.pop("validation-roc-auc")
    assert all(area <= best for area, _ in chosen.values())
    made.config = made.config.replace(select_by="validation-roc-auc")
    in_torch = fit(
        made.build, made.inputs, made.graph.labels, made.split, made.config, seed=made.seed
    )
    assert in_torch.best_epoch == epoch


def test_a_loss_that_stops_being_finite_ends_the_run(problem: Callable[..., Any]) -> None:
    made = problem("gcn", dropout=0.0)
    made.config = TrainConfig(lr=1e300, max_epochs=50, stopping="none")
    found = made.native()
    assert found.status == "diverged"
    assert found.epochs < 50


def test_uncovered_models_run_in_torch_with_a_note_or_are_refused(
    problem: Callable[..., Any],
) -> None:
    made = problem("sgformer", dropout=0.0, epochs=2)
    replica = Replica(made.build, made.split, made.config, 0)
    with pytest.raises(NotCoveredError, match="Sgformer"):
        run([made.task], made.inputs, made.graph.labels)
    with pytest.raises(InputError, match="Sgformer"):
        fit_replicas([replica], made.inputs, made.graph.labels, engine=NativeEngine())
    engine, note = engine_for(MODELS["sgformer"], "auto")
    assert engine == "torch"
    assert "Sgformer" in note
    with pytest.raises(InputError, match=r"engine='native'.*Sgformer"):
        engine_for(MODELS["sgformer"], "native")


def test_covered_models_run_natively_through_fit_replicas(problem: Callable[..., Any]) -> None:
    made = problem("acm-gcn", dropout=0.5, epochs=10)
    replicas = [Replica(made.build, made.split, made.config, seed) for seed in range(3)]
    calls: list[tuple[int, int]] = []
    done = fit_replicas(
        replicas,
        made.inputs,
        made.graph.labels,
        engine=NativeEngine(),
        progress=lambda finished, total: calls.append((finished, total)),
    )
    assert (done.engine, len(done), calls[-1]) == ("native", 3, (3, 3))
    assert_same(done.by_replica[2], replace_seed(made, 2).native())


def replace_seed(made: Any, seed: int) -> Any:
    return replace(made, seed=seed)


def test_interruption_keeps_what_is_finished(
    problem: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = problem("acm-gcn", dropout=0.5, epochs=3)
    endless = Replica(made.build, made.split, made.config.replace(max_epochs=2_000_000), 1)

    def report(progress: Any, shown: int, before: int, array: Any, total: int) -> int:
        if any(done.status in (0, 1) for done in array):
            raise KeyboardInterrupt
        return shown

    monkeypatch.setattr(engine_run, "_report", report)
    done = run(
        [made.task, endless], made.inputs, made.graph.labels, threads=2, progress=lambda *_: None
    )
    assert done.interrupted
    assert list(done.results) == [0]


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_follows_torch(
    isa: str,
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ISA_VARIABLE, isa)
    if engine().library is None:
        pytest.skip(f"{isa}: {engine().reason}")
    assert engine().isa == isa
    for model in ("acm-gcn+", "acmii-gcn++", "snowball-2"):
        assert_twins(problem(model, dropout=0.3, hidden=21, epochs=20))


def test_engine_can_be_switched_off_and_misspelt_names_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ISA_VARIABLE, "none")
    assert engine().library is None
    monkeypatch.setenv(ISA_VARIABLE, "avx1024")
    with pytest.raises(InputError, match="avx1024"):
        engine()
    assert isinstance(processor_flags(), set)
