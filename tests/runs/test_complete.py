"""The one road: records and what is kept of trainings, wherever they are trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from small_study import small_graph
from torch import nn

from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError
from heterophily.models.pyg_adapter import pyg_model
from heterophily.models.spec import ModelSpec
from heterophily.native.library import engine as native
from heterophily.runs import job
from heterophily.runs.artefacts import KINDS, artefacts_of
from heterophily.runs.complete import complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import LocalProcesses, this_machine
from heterophily.runs.plan import Planner
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas

GRAPH = small_graph()
SHORT = TrainConfig(max_epochs=6)


def runs_of(
    model: str | ModelSpec = "acm-gcn", *, count: int = 2, engine: str = "torch"
) -> list[Run]:
    splits = GRAPH.splits
    assert isinstance(splits, SplitBatch)
    planner = Planner(engine=engine)
    every = [splits[number] for number in range(count)]
    how = {"rule": "fixed", "seeds": list(range(count))}
    return planner.runs_on(
        model, {"hidden": 8} if isinstance(model, str) else {}, SHORT, GRAPH, every, **how
    )


def finished(store: Store, runs: list[Run], executor: Executor | None = None) -> list[np.ndarray]:
    done = complete(runs, store=store, executor=executor or InProcess(), keep=tuple(KINDS)).check()
    found = [done.result(record, *KINDS).logits for record in done]
    return [logits for logits in found if logits is not None]


def test_a_kept_run_is_what_the_trainer_returns() -> None:
    runs = runs_of()
    sources = runs[0].sources
    assert sources is not None
    with open_store("memory:") as store:
        done = complete(runs, store=store, executor=InProcess(), keep=tuple(KINDS))
        ours = [done.result(record, *KINDS) for record in done]
    inputs = sources.inputs(runs[0])
    build = sources.spec(runs[0]).builder(inputs, num_classes=GRAPH.num_classes)
    replicas = [Replica(build, sources.split(run), SHORT, run.seed) for run in runs]
    for mine, theirs in zip(
        ours, fit_replicas(replicas, inputs, GRAPH.labels, workers=1), strict=True
    ):
        assert mine.test_accuracy == theirs.test_accuracy
        assert np.array_equal(mine.logits, theirs.logits)
        assert np.array_equal(mine.predictions, theirs.predictions)
        assert np.array_equal(mine.history.train_loss, theirs.history.train_loss)
        assert mine.state is not None
        assert theirs.state is not None
        assert all(torch.equal(mine.state[name], value) for name, value in theirs.state.items())


def test_a_worker_process_gives_to_a_store_in_memory_what_this_process_gives() -> None:
    with open_store("memory:") as here, open_store("memory:") as there:
        ours = finished(here, runs_of())
        theirs = finished(there, runs_of(), LocalProcesses(1))
        assert here.answers() == there.answers()
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.skipif(native().library is None, reason="no native engine")
def test_threads_give_the_same_bits_as_one_after_the_other() -> None:
    with open_store("memory:") as one, open_store("memory:") as many:
        ours = finished(one, runs_of(count=4, engine="native"))
        theirs = finished(many, runs_of(count=4, engine="native"), this_machine(3))
        assert one.answers() == many.answers()
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_record_without_the_wanted_artefact_is_trained_once_more_for_it_alone(
    tmp_path: Path,
) -> None:
    runs = runs_of()
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(runs, store=store, executor=InProcess())
        before = store.answers()
        complete(runs, store=store, executor=InProcess(), keep=("state",), needs=())
        assert len(store.starts()) == 2  # nothing is needed of what is finished
        kept = finished(store, runs)
        assert len(store.starts()) == 4
        assert (len(store), store.answers()) == (2, before)
        again = finished(store, runs)
        assert len(store.starts()) == 4
        artefacts_of(store).drop([runs[0].key])
        finished(store, runs)
        assert len(store.starts()) == 5
    assert all(np.array_equal(a, b) for a, b in zip(kept, again, strict=True))


def test_the_name_of_a_store_is_one_sentence() -> None:
    with pytest.raises(
        InputError, match=r"open it first: with heterophily.open_store\('u.sqlite'\)"
    ):
        complete(runs_of(), store="u.sqlite")  # type: ignore[arg-type]


def test_another_answer_than_that_of_the_record_is_one_loud_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = runs_of(count=1)
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(runs, store=store, executor=InProcess())
        monkeypatch.setattr(job, "train_run", lambda run, *a, **k: _other(run, *a, **k))
        done = complete(runs, store=store, executor=InProcess(), keep=("logits",))
        with pytest.raises(InputError, match="other numbers than its record"):
            done.check()
        assert not artefacts_of(store).has(runs[0].key, ("logits",))


_real = job.train_run


def _other(run: Run, *arguments: object, **options: object) -> object:
    from dataclasses import replace

    return replace(_real(run, *arguments, **options), test_accuracy=0.123)  # type: ignore[arg-type]


class OneMap(nn.Module):
    """A model of a user."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.map = nn.Linear(num_features, num_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.map(x)


def test_a_model_of_a_user_is_stored_under_a_key_with_its_source(tmp_path: Path) -> None:
    runs = runs_of(pyg_model(OneMap), count=1)
    assert runs[0].model == "OneMap"
    assert len(runs[0].resolved["source"]) == 32
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(runs, store=store, executor=InProcess()).check()
        complete(runs_of(pyg_model(OneMap), count=1), store=store, executor=InProcess())
        assert len(store.starts()) == 1


def test_a_model_without_source_is_refused_by_a_lasting_store_alone(tmp_path: Path) -> None:
    space: dict[str, object] = {"nn": nn}
    exec("def make(inputs, classes):\n    return Wrapped(nn.Linear(inputs, classes))", space)
    space["Wrapped"] = Wrapped
    runs = runs_of(pyg_model(space["make"]), count=1)  # type: ignore[arg-type]
    with open_store("memory:") as store:
        assert len(list(complete(runs, store=store, executor=InProcess()).check())) == 1
    with (
        open_store(tmp_path / "runs.sqlite") as store,
        pytest.raises(InputError, match="source of this model cannot be found"),
    ):
        complete(runs, store=store, executor=InProcess())


class Wrapped(nn.Module):
    """A map that leaves the edges out."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(x)
        return result
