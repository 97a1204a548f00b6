"""An evaluation holds every score, an honest interval, and what costs nothing beside it."""

import json

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, random_splits
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.evaluate import evaluate
from heterophily.evaluation.scores import SCORES


def make(labels, *, columns=2, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(labels.size, columns)) + 0.7 * labels[:, None]
    names = tuple("abcdef"[: labels.max() + 1])
    return Graph.from_edges([0], [1], labels=labels, features=features, class_names=names)


def oracle(graph, splits):
    """Return probabilities that are right everywhere."""
    return [np.eye(graph.num_classes)[graph.labels] * 0.8 + 0.2 / graph.num_classes for _ in splits]


def guess(graph, splits):
    return [np.random.default_rng(k).dirichlet([1, 1], graph.num_nodes) for k in range(len(splits))]


def test_an_oracle_is_better_than_both_baselines_and_a_guess_than_none():
    graph = make(np.arange(200) % 2)
    splits = list(random_splits(graph.labels, repeats=4, seed=0))
    beside = baselines(graph, splits)
    good = evaluate(graph, splits, oracle(graph, splits), baselines=beside)
    assert [found.is_better for found in good.baselines] == [True, True]
    assert good.baselines[0].difference == pytest.approx(0.5)
    bad = evaluate(graph, splits, guess(graph, splits), baselines=beside)
    assert [found.is_better for found in bad.baselines] == [False, False]


def test_a_single_split_is_compared_over_its_nodes():
    graph = make(np.arange(600) % 2)
    splits = list(random_splits(graph.labels, repeats=1, seed=0))
    found = evaluate(graph, splits, oracle(graph, splits), baselines=baselines(graph, splits))
    trees = found.baselines[1]
    assert trees.interval.low < trees.difference < trees.interval.high
    assert trees.splits == trees.of_splits == 1


def test_six_perfect_test_nodes_are_not_certain():
    labels = np.arange(30) % 2
    graph = make(labels)
    splits = list(random_splits(labels, repeats=10, seed=0))
    found = evaluate(graph, splits, oracle(graph, splits), baselines=baselines(graph, splits))
    assert (found.main.mean, found.main.std) == (1.0, 0.0)
    assert found.main.interval.low < 0.65
    largest = found.baselines[0]
    assert largest.difference == pytest.approx(0.5)
    assert largest.interval.low < 0.2  # though all ten splits differ equally


def test_a_rare_class_is_judged_by_the_area_and_has_a_threshold():
    labels = np.repeat([0, 1], [1868, 105])
    graph = make(labels)
    splits = list(random_splits(labels, repeats=2, seed=0))
    found = evaluate(graph, splits, guess(graph, splits), baselines=baselines(graph, splits))
    assert found.score == "roc-auc"
    assert found.baselines[0].value.mean == pytest.approx(0.5)
    assert found.threshold.positive == 1
    data = json.loads(json.dumps(found.to_dict()))
    assert set(data["scores"]) == set(SCORES)
    assert data["threshold"]["class"] == "b"
    assert np.sum(data["confusion"]) == sum(split.sizes[2] for split in splits)
    assert data["per_class"][1]["nodes"] == 42


def test_an_undefined_score_is_a_remark_with_reason_and_remedy_and_accuracy_decides():
    labels = np.repeat([0, 1], [60, 12])
    graph = make(labels)
    split = Split.from_parts(np.r_[0:20, 60:72], np.r_[20:30], np.r_[30:60], num_nodes=72)
    found = evaluate(graph, [split], oracle(graph, [split]), baselines=baselines(graph, [split]))
    assert found.score == "accuracy"
    assert found.scores["roc-auc"].mean is None
    assert found.to_dict()["scores"]["roc-auc"]["values"] == [None]
    undefined, instead = found.remarks
    assert undefined.startswith("ROC AUC and average precision cannot be computed")
    assert "all of class 'a'" in undefined
    assert "--splits random" in undefined
    assert "compared by accuracy" in instead
    assert found.threshold is None  # no rare node validates either


def test_another_score_can_be_asked_for():
    graph = make(np.arange(90) % 3)
    splits = list(random_splits(graph.labels, repeats=2, seed=0))
    found = evaluate(graph, splits, oracle(graph, splits), score="macro-f1")
    assert (found.score, found.main.mean, found.threshold) == ("macro-f1", 1.0, None)
