"""Studies on synthetic graphs: declared, run once, stopped and resumed, chosen on validation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heterophily.data.synthetic.features import open_base, with_classes
from heterophily.errors import InputError, UnknownNameError
from heterophily.experiments import synthetic_run
from heterophily.experiments.synthetic import (
    LEVELS,
    METRICS,
    SyntheticStudy,
    Unit,
    base_digest,
    quick,
    trials,
)
from heterophily.experiments.synthetic_records import append_record, curves, read_records
from heterophily.metrics.edge_homophily import edge_homophily

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


def run(study: SyntheticStudy, store: Path, **options):
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


def test_keys_change_with_what_the_outcome_depends_on_and_with_nothing_else(base) -> None:
    digest = base_digest(base)
    unit = Unit(TINY, "gcn", 0.2, 0)
    same = replace(TINY, graphs=10, levels=LEVELS, models=("gcn",))
    assert Unit(same, "gcn", 0.2, 0).key(digest) == unit.key(digest)
    others = [
        Unit(replace(TINY, **change), "gcn", 0.2, 0).key(digest)
        for change in (
            {"seed": 1},
            {"max_epochs": 5},
            {"search": "paper"},
            {"nodes_per_class": 21},
            {"generator": "regular"},
            {"engine": "torch"},
        )
    ]
    others += [Unit(TINY, "sgc-1", 0.2, 0).key(digest), Unit(TINY, "gcn", 0.2, 1).key(digest)]
    others.append(unit.key("another base"))
    assert len({unit.key(digest), *others}) == len(others) + 1


def test_a_stopped_study_goes_on_and_gives_the_same_records(tmp_path, monkeypatch) -> None:
    whole = run(TINY, tmp_path / "whole.jsonl")
    assert len(whole) == 8
    real, calls = synthetic_run.train_unit, []

    def stop_at_third(unit, base):
        calls.append(unit)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(unit, base)

    monkeypatch.setattr(synthetic_run, "train_unit", stop_at_third)
    store = tmp_path / "stopped.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(TINY, store)
    assert len(read_records(store)) == 2
    seen: list[tuple[int, int]] = []
    resumed = run(TINY, store, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 8) for done in range(2, 9)]
    assert len(calls) == 9

    def content(records):
        return [{k: v for k, v in record.items() if k != "seconds"} for record in records]

    assert content(resumed) == content(whole)


def test_worker_processes_store_what_one_process_stores(tmp_path) -> None:
    study = replace(TINY, models=("sgc-1",), graphs=1)
    alone = curves(run(study, tmp_path / "alone.jsonl"))
    together = curves(synthetic_run.run_study(study, tmp_path / "together.jsonl", workers=2))
    assert alone == together


def test_a_larger_study_trains_only_what_is_new(tmp_path, monkeypatch) -> None:
    store = tmp_path / "records.jsonl"
    small = replace(TINY, models=("sgc-1",), graphs=1)
    run(small, store)
    trained = []
    real = synthetic_run.train_unit
    monkeypatch.setattr(
        synthetic_run, "train_unit", lambda unit, base: trained.append(unit) or real(unit, base)
    )
    records = run(replace(small, graphs=2), store)
    assert len(records) == 4
    assert sorted((unit.level, unit.graph) for unit in trained) == [(0.2, 1), (0.8, 1)]


def test_a_record_holds_the_metrics_of_its_graph_and_every_trial(tmp_path) -> None:
    record = run(replace(TINY, models=("gcn",), levels=(0.2,), graphs=1), tmp_path / "r.jsonl")[0]
    assert set(record["metrics"]) == set(METRICS)
    assert record["metrics"]["edge_homophily"] == pytest.approx(0.2, abs=0.001)
    shown = [
        {k: t[k] for k in ("lr", "weight_decay", "dropout", "hidden")} for t in record["trials"]
    ]
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


def test_a_torn_last_line_is_left_out_and_a_broken_one_is_named(tmp_path) -> None:
    store = tmp_path / "r.jsonl"
    append_record(store, {"key": "a"})
    append_record(store, {"key": "b"})
    whole = store.read_text()
    store.write_text(whole + '{"key": "c"')
    assert list(read_records(store)) == ["a", "b"]
    store.write_text("nonsense\n" + whole)
    with pytest.raises(InputError, match=r"r\.jsonl, line 1 is not a record"):
        read_records(store)
    with pytest.raises(InputError, match="cannot write"):
        append_record(tmp_path / "missing" / "r.jsonl", {})
    assert json.loads(whole.splitlines()[0]) == {"key": "a"}


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
