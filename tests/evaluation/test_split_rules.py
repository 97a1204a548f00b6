"""Split rules: what draws, what stored runs call it, and what of the paper belongs to it."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_study import small_graph

from heterophily.comparison.train import train, train_by_name
from heterophily.data.graph import Graph
from heterophily.errors import InputError, UnknownNameError
from heterophily.evaluation.split_rules import SPLIT_RULES, rule_of, split_remarks, splits_of
from heterophily.paper.presets import Recipe
from heterophily.runs.plan import Planner
from heterophily.runs.run import key_of
from heterophily.studies.runner import plan_study
from heterophily.studies.study import study
from heterophily.training.config import TrainConfig

RESULTS = Path(__file__).resolve().parents[2] / "results"
SHORT = {"max_epochs": 2}


def imbalanced():
    """105 of 1,973 nodes are rare; one column tells a little about them."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [1868, 105])
    features = rng.normal(size=(labels.size, 1)) + labels[:, None]
    source, target = rng.integers(0, labels.size, (2, 4000))
    return Graph.from_edges(
        source, target, labels=labels, features=features, class_names=("ok", "fraud"), name="bank"
    )


def test_stored_names_are_distinct_and_lead_back():
    assert {rule_of(rule.stored): rule for rule in SPLIT_RULES.values()} == dict(SPLIT_RULES)
    assert SPLIT_RULES["paper-random"].stored == "random"  # keys of stored runs hold this word


def test_runs_of_random_splits_and_of_the_papers_are_stored_apart():
    planner, graph = Planner(repeats=2), small_graph()
    ours, papers = (
        planner.runs("gcn", graph, Recipe(), rule) for rule in ("random", "paper-random")
    )
    assert {run.split.rule for run in ours} == {"stratified"}
    assert {run.split.rule for run in papers} == {"random"}
    assert {run.split.seed for run in (*ours, *papers)} == {0}
    assert not {run.key for run in ours} & {run.key for run in papers}


def test_studies_find_the_stored_runs_of_the_project(data_folder):
    known = pq.read_table(RESULTS / "tables" / "runs.parquet", columns=["key"])
    keys = set(known["key"].to_pylist())
    for name in ("ablation", "fixed-splits"):
        part = study(name).part(datasets=["texas"], models=["acm-gcn"])
        runs = plan_study(part, data_folder=data_folder, engine="native").runs
        assert len(runs) == 10
        stored = {key_of(run.to_dict(), 3) for run in runs}  # numerics of the committed records
        assert stored <= keys


def test_a_preset_brings_the_papers_rule_unless_another_is_named(data_folder):
    how = {"data_folder": data_folder, "repeats": 1, "config": SHORT, "workers": 1}
    papers = train_by_name("gcn", "texas", preset="paper", **how)
    named = train_by_name("gcn", "texas", preset="paper", splits="random", **how)
    plain = train_by_name("gcn", "texas", **how)
    assert (papers.split_rule, named.split_rule, plain.split_rule) == (
        "paper-random", "random", "random",
    )  # fmt: skip
    assert papers.published is not None
    assert papers.hyperparameters["lr"] == named.hyperparameters["lr"] != 0.01
    for report in (named, plain):
        assert report.published is None
        assert "--splits paper-random" in report.remarks[-1]


def test_train_takes_the_name_of_a_rule_or_splits():
    graph = small_graph()
    how = {"config": TrainConfig(**SHORT), "workers": 1}
    by_name = train("mlp-1", graph, splits="fixed", **how)
    given = train("mlp-1", graph, splits=graph.splits, **how)
    assert (by_name.split_rule, given.split_rule) == ("fixed", "given")
    assert by_name.test_accuracy == given.test_accuracy
    assert by_name.splits is graph.splits


def test_a_rare_class_is_tested_and_the_papers_rule_warns_that_it_is_not():
    graph, config = imbalanced(), TrainConfig(**SHORT)
    ours, papers = (
        train("mlp-1", graph, splits=rule, repeats=2, config=config, workers=1)
        for rule in ("random", "paper-random")
    )
    assert all(graph.labels[split.test].sum() == 21 for split in ours.splits)
    assert not any("without test nodes" in remark for remark in ours.remarks)
    (warning,) = (remark for remark in papers.remarks if "without test nodes" in remark)
    assert "'fraud'" in warning


def test_a_graph_with_splits_of_its_own_is_said_to_have_them():
    graph = small_graph()
    batch = splits_of(graph, "random", repeats=2)
    assert "--splits fixed" in split_remarks(graph, batch, "random")[0]
    assert split_remarks(graph, graph.splits, "fixed") == ()


def test_rules_that_a_graph_cannot_follow_are_refused():
    graph = small_graph().replace(splits=None)
    with pytest.raises(UnknownNameError, match="unknown split rule 'radom'"):
        splits_of(graph, "radom")
    with pytest.raises(InputError, match="has no fixed splits"):
        splits_of(graph, "fixed")
    with pytest.raises(InputError, match="mine has no public split"):
        splits_of(graph, "public", dataset="mine")
    with pytest.raises(InputError, match="repeats=0"):
        splits_of(graph, "random", repeats=0)
