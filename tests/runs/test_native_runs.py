"""Runs of a study in the native engine: prepared once for a graph, each as if alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_study import small_graph

from heterophily.engine.buffers import GraphBuffers
from heterophily.errors import InputError
from heterophily.native.library import engine
from heterophily.runs.job import Job
from heterophily.runs.run import GraphRef, Run, SplitRef
from heterophily.runs.sources import Sources

pytestmark = pytest.mark.skipif(engine().library is None, reason="no native engine")
GRAPH = small_graph()
SPLITS = {str(number): GRAPH.splits[number] for number in range(2)}  # type: ignore[index]


def make_run(number: int, *, model: str = "acm-gcn", engine: str = "native") -> Run:
    return Run(
        model=model,
        options={"hidden": 8},
        config={"max_epochs": 5},
        graph=GraphRef(GRAPH.name, GRAPH.content_hash),
        split=SplitRef("fixed", number, 0, str(number)),
        seed=number,
        resolved={},
        engine=engine,
    )


def make_job() -> Job:
    return Job("unused", Sources({GRAPH.content_hash: lambda: GRAPH}, SPLITS))


def test_runs_of_one_graph_are_prepared_once_and_give_what_each_gives_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []

    class Counted(GraphBuffers):
        def __init__(self, *parts: object) -> None:
            made.append(parts)
            super().__init__(*parts)  # type: ignore[arg-type]

    alone = [make_job().train(make_run(number)).outcome for number in range(2)]
    monkeypatch.setattr("heterophily.engine.buffers.GraphBuffers", Counted)
    monkeypatch.setattr("heterophily.engine.run.GraphBuffers", Counted)
    job = make_job()
    together = [job.train(make_run(number)).outcome for number in (0, 1, 0, 1)]
    assert len(made) == 1
    for number, outcome in enumerate(together):
        expected = alone[number % 2]
        assert replace(outcome, seconds=0.0, peak_memory_mb=0.0) == replace(
            expected, seconds=0.0, peak_memory_mb=0.0
        )


def test_a_torch_run_prepares_nothing_for_the_engine() -> None:
    job = make_job()
    job.train(make_run(0, engine="torch"))
    assert job.sources._buffers == {}


def test_without_the_library_a_native_run_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", "none")
    job = make_job()
    with pytest.raises(InputError, match="switched off by HETEROPHILY_ENGINE_ISA=none; use engine"):
        job.train(make_run(0))
    assert set(job.sources._buffers.values()) == {None}
    assert job.train(make_run(0, engine="torch")).outcome.epochs == 5
