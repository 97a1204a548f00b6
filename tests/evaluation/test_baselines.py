"""Baselines: same test nodes, no graph, bounded cost."""

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.data.splits import random_splits
from heterophily.evaluation import baselines as module
from heterophily.evaluation.baselines import baselines


def make(num_nodes=120, columns=4, *, classes=2, sparse=False):
    rng = np.random.default_rng(0)
    labels = np.arange(num_nodes) % classes
    features = rng.normal(size=(num_nodes, columns))
    features[:, 0] += 3 * labels
    if sparse:
        features = sp.csr_array(np.where(np.abs(features) > 1, features, 0))
    return Graph.from_edges([0], [1], labels=labels, features=features, num_nodes=num_nodes)


def test_the_largest_class_is_that_of_the_training_nodes_and_ranks_nobody():
    labels = np.repeat([0, 1], [30, 90])
    graph = Graph.from_edges([0], [1], labels=labels, num_nodes=120)
    splits = list(random_splits(labels, repeats=2, seed=0))
    largest, trees = baselines(graph, splits)
    assert largest.scores("accuracy") == pytest.approx((0.75, 0.75))
    assert largest.scores("roc-auc") == (0.5, 0.5)
    assert largest.probabilities[0][0].tolist() == [0.25, 0.75]
    assert trees.absence == "the graph has no features"
    assert trees.scores("accuracy") == ()


@pytest.mark.parametrize("sparse", [False, True])
def test_trees_learn_the_features_and_are_the_same_each_time(sparse):
    graph = make(sparse=sparse)
    splits = list(random_splits(graph.labels, repeats=3, seed=0))
    first, again = (baselines(graph, splits)[1] for _ in range(2))
    assert min(first.scores("accuracy")) > 0.7
    for one, other in zip(first.probabilities, again.probabilities, strict=True):
        assert np.array_equal(one, other)
    assert [labels.size for labels in first.labels] == [split.sizes[2] for split in splits]


def test_of_many_columns_those_that_tell_classes_apart_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    for sparse in (False, True):
        graph = make(columns=40, sparse=sparse)
        splits = list(random_splits(graph.labels, repeats=1, seed=0))
        assert baselines(graph, splits)[1].scores("accuracy")[0] > 0.7


def test_large_graphs_use_some_rows_and_the_first_splits(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    monkeypatch.setattr(module, "MOST_WORK", 20)
    graph = make()
    splits = list(random_splits(graph.labels, repeats=5, seed=0))
    largest, trees = baselines(graph, splits)
    assert (len(largest.labels), len(trees.labels), trees.of_splits) == (5, 3, 5)


def test_labels_of_test_nodes_do_not_change_a_baseline():
    graph = make()
    split = random_splits(graph.labels, repeats=1, seed=0)[0]
    labels = graph.labels.copy()
    labels[split.test] = 1 - labels[split.test]
    for one, other in zip(
        baselines(graph, [split]), baselines(graph.replace(labels=labels), [split]), strict=True
    ):
        assert np.array_equal(one.probabilities[0], other.probabilities[0])
