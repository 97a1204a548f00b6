"""Studies on synthetic graphs: declared, run once, stopped and resumed, chosen on validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heterophily.data.synthetic.features import open_base, with_classes
from heterophily.errors import InputError, UnknownNameError
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.runs import job
from heterophily.runs.stores.url import open_store
from heterophily.studies import synthetic_run
from heterophily.studies.synthetic import (
    LEVELS,
    METRICS,
    SyntheticStudy,
    Unit,
    quick,
    trials,
)
from heterophily.studies.synthetic_curves import curves

TINY = SyntheticStudy(
    base="digits",
    models=("sgc-1", "gcn"),
    levels=(0.2, 0.8),
    graphs=2,
    nodes_per_class=20,
    search="small",
    max_epochs=4,
)


@pytest.fixture(scope="module")
def base():
    return with_classes(open_base("digits"), 5)


def run(study: SyntheticStudy, url: str | Path, **options):
    with open_store(url) as store:
        return synthetic_run.run_study(study, store, workers=1, **options)


def test_the_paper_has_28_levels() -> None:
    assert (len(LEVELS), min(LEVELS), max(LEVELS)) == (28, 0.005, 0.95)
    assert list(LEVELS) == sorted(set(LEVELS))


def test_the_search_is_the_range_of_the_appendix() -> None:
    decays = [5e-5, 1e-4, 5e-4, 1e-3, 5e-3]
    assert [trial["weight_decay"] for trial in trials("sgc-1", "paper")] == decays
    assert {trial["dropout"] for trial in trials("mlp-1", "paper")} == {0.0}
    assert len(trials("acm-gcn", "paper")) == 25
    assert {trial["hidden"] for trial in trials("acm-gcn", "paper")} == {64}
    assert all(trial in trials("gcn", "paper") for trial in trials("gcn", "small"))


@pytest.mark.parametrize("generator", ["edge-homophily", "degree-then-edges", "regular"])
def test_graphs_of_the_paper_have_800_intra_class_entries_per_class(generator: str) -> None:
    study = SyntheticStudy(generator=generator)
    labels = np.repeat(np.arange(5), 400)
    graph, split = Unit(study, "gcn", 0.25, 0).make_graph((None, labels))
    same = graph.labels[graph.adjacency.nonzero()[0]] == graph.labels[graph.adjacency.nonzero()[1]]
    assert abs(int(same.sum()) - 5 * 800) <= 10
    assert abs(edge_homophily(graph) - 0.25) < 0.001
    assert split.sizes == (1200, 400, 400)


def test_models_of_one_level_and_number_see_the_same_graph(base) -> None:
    first, second, other = (
        Unit(TINY, model, 0.2, number).make_graph(base)
        for model, number in (("sgc-1", 0), ("gcn", 0), ("gcn", 1))
    )
    assert first[0].content_hash == second[0].content_hash != other[0].content_hash
    assert (first[1].test == second[1].test).all()


def test_a_stopped_study_goes_on_and_gives_the_same_rows(tmp_path, monkeypatch) -> None:
    whole = run(TINY, "memory:")
    assert len(whole) == 8
    real, calls = job.train_run, []

    def stop_at_third(planned, *arguments, **options):
        calls.append(planned)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(planned, *arguments, **options)

    monkeypatch.setattr(job, "train_run", stop_at_third)
    path = tmp_path / "runs.sqlite"
    with pytest.raises(KeyboardInterrupt):
        run(TINY, path)
    with open_store(path) as store:
        assert len(store) == 2
    seen: list[tuple[int, int]] = []
    resumed = run(TINY, path, progress=lambda done, total: seen.append((done, total)))
    total = sum(len(row["trials"]) for row in whole)
    assert (seen[0], seen[-1]) == ((2, total), (total, total))
    assert len(calls) == total + 1
    assert resumed == whole


def test_worker_processes_give_what_one_process_gives(tmp_path) -> None:
    study = replace(TINY, models=("sgc-1",), graphs=1)
    with open_store(tmp_path / "runs.sqlite") as store:
        together = synthetic_run.run_study(study, store, workers=2)
    assert together == run(study, "memory:")


def test_a_larger_study_trains_only_what_is_new(tmp_path) -> None:
    path = tmp_path / "runs.sqlite"
    small = replace(TINY, models=("sgc-1",), graphs=1)
    first = run(small, path)
    rows = run(replace(small, graphs=2), path)
    assert [row for row in rows if row["graph"] == 0] == first
    with open_store(path) as store:
        assert len(store.starts()) == len(store) == sum(len(row["keys"]) for row in rows)


def test_a_row_holds_the_metrics_of_its_graph_and_every_trial() -> None:
    row = run(replace(TINY, models=("gcn",), levels=(0.2,), graphs=1), "memory:")[0]
    assert set(row["metrics"]) == set(METRICS)
    assert row["metrics"]["edge_homophily"] == pytest.approx(0.2, abs=0.001)
    shown = [{k: t[k] for k in ("lr", "weight_decay", "dropout", "hidden")} for t in row["trials"]]
    assert shown == [
        {k: t[k] for k in ("lr", "weight_decay", "dropout", "hidden")}
        for t in trials("gcn", "small")
    ]


def record(graph: int, validation: tuple[float, float], test: tuple[float, float], **changes):
    outcomes = zip((0.1, 0.5), validation, test, strict=True)
    return {
        "model": "gcn",
        "level": 0.2,
        "graph": graph,
        "metrics": {"edge_homophily": 0.2 + graph / 100},
        "trials": [
            {
                "dropout": dropout,
                "validation_accuracy": v,
                "validation_loss": 1.0,
                "test_accuracy": t,
                "epochs": 5,
            }
            for dropout, v, t in outcomes
        ],
        **changes,
    }


def test_settings_are_chosen_by_validation_over_all_graphs_never_by_test() -> None:
    point = curves([record(0, (0.9, 0.8), (0.5, 1.0)), record(1, (0.6, 0.8), (0.6, 1.0))])["gcn"][0]
    assert point.setting == {"dropout": 0.5}  # mean validation 0.8 against 0.75
    point = curves([record(0, (0.9, 0.8), (0.5, 1.0)), record(1, (0.8, 0.8), (0.7, 1.0))])["gcn"][0]
    assert point.setting == {"dropout": 0.1}
    assert point.accuracies == (0.5, 0.7)
    assert (point.accuracy, point.spread) == (pytest.approx(0.6), pytest.approx(0.1))
    assert point.metric("edge_homophily") == pytest.approx(0.205)


def test_curves_are_ordered_by_level_whatever_the_order_of_the_records() -> None:
    records = [record(0, (1, 0), (1, 0), level=level) for level in (0.9, 0.1, 0.5)]
    assert [point.level for point in curves(records)["gcn"]] == [0.1, 0.5, 0.9]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": (0.0,)}, "level 0.0"),
        ({"levels": ()}, "at least one level"),
        ({"graphs": 0}, "graphs=0"),
        ({"classes": 1}, "classes=1"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_impossible_studies_are_refused(changes, message) -> None:
    with pytest.raises(InputError, match=message):
        replace(TINY, **changes)


def test_unknown_names_in_a_study_are_refused() -> None:
    for changes in ({"models": ("gnc",)}, {"generator": "edge"}, {"search": "large"}):
        with pytest.raises(UnknownNameError):
            replace(TINY, **changes)
    with pytest.raises(InputError, match="levels=29"):
        quick(SyntheticStudy(), levels=29, graphs=None)
