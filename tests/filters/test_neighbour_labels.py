"""Labels of neighbours are cross-fitted: nobody sees its own label, nor those that are tested."""

from __future__ import annotations

import numpy as np
import pytest
from probed_graphs import random_edges

from heterophily.data.graph import Graph
from heterophily.diagnosis.probe import probe_sources
from heterophily.diagnosis.probe_columns import stratified_folds
from heterophily.diagnosis.sources import NeighbourMean
from heterophily.filters.neighbour_labels import NeighbourLabels

FOLDS, CLASSES = 4, 3
PRIOR = np.full(CLASSES, 1 / CLASSES)


@pytest.fixture
def graph() -> Graph:
    rng = np.random.default_rng(1)
    return random_edges(rng.integers(0, CLASSES, 60), edges=150, hubs=3)


def fold_of(graph: Graph) -> np.ndarray:
    return np.random.default_rng(0).integers(0, FOLDS, graph.num_nodes)


def counted(graph: Graph, labels=None, rows=None) -> NeighbourLabels:
    rows = np.arange(graph.num_nodes) if rows is None else rows
    labels = graph.labels if labels is None else labels
    return NeighbourLabels.count(
        NeighbourMean.of(graph), rows, labels, fold_of(graph)[rows], num_classes=CLASSES
    )


def test_no_node_sees_its_own_label_one_or_two_edges_away(graph: Graph) -> None:
    """Two edges lead back to every node that has a neighbour; its own label is not there."""
    for node in range(0, 60, 7):
        changed = graph.labels.copy()
        changed[node] = (changed[node] + 1) % CLASSES
        for test in range(FOLDS):
            before, after = (counted(graph, k).columns(test, PRIOR) for k in (None, changed))
            np.testing.assert_allclose(before[node], after[node], rtol=1e-6)


def test_training_nodes_do_not_see_labels_of_the_test_fold_nor_of_their_own(graph: Graph) -> None:
    fold, test = fold_of(graph), 2
    changed = np.where(fold == test, (graph.labels + 1) % CLASSES, graph.labels)
    np.testing.assert_array_equal(
        counted(graph).columns(test, PRIOR), counted(graph, changed).columns(test, PRIOR)
    )
    mine = np.where(fold == 0, (graph.labels + 1) % CLASSES, graph.labels)
    np.testing.assert_array_equal(
        counted(graph).columns(test, PRIOR)[fold == 0],
        counted(graph, mine).columns(test, PRIOR)[fold == 0],
    )


def test_labels_of_other_training_folds_are_seen(graph: Graph) -> None:
    fold = fold_of(graph)
    changed = np.where(fold == 1, (graph.labels + 1) % CLASSES, graph.labels)
    before, after = (counted(graph, k).columns(2, PRIOR) for k in (None, changed))
    assert (before != after).any(axis=1)[fold != 1].mean() > 0.5


def test_labels_outside_the_sample_are_seen_by_all(graph: Graph) -> None:
    rows = np.arange(0, 60, 2)
    outside = np.setdiff1d(np.arange(60), rows)
    changed = graph.labels.copy()
    changed[outside] = (changed[outside] + 1) % CLASSES
    near = (graph.adjacency[rows][:, outside] @ np.ones(outside.size)) > 0
    for test in range(FOLDS):
        before, after = (counted(graph, k, rows).columns(test, PRIOR) for k in (None, changed))
        assert (before != after).any(axis=1)[near].all()


def test_columns_are_the_shares_of_a_dense_reference(graph: Graph) -> None:
    fold, test = fold_of(graph), 1
    dense = graph.adjacency.toarray()
    walk = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    known = np.eye(CLASSES)[graph.labels]
    expected = []
    for matrix, pull in ((dense, 1.0), (walk @ walk, None)):
        seen = np.zeros((60, CLASSES))
        for node in range(60):
            hidden = (fold == test) | (fold == fold[node])
            seen[node] = matrix[node] @ (known * ~hidden[:, None])
        total = seen.sum(axis=1, keepdims=True)
        pull = pull or 0.5 * np.median(total[total > 0])
        expected += [(seen + pull * PRIOR) / (total + pull), np.log1p(total / pull)]
    np.testing.assert_allclose(
        counted(graph).columns(test, PRIOR), np.hstack(expected), rtol=1e-5, atol=1e-7
    )


def test_shares_of_a_class_add_up_to_one_and_no_label_means_the_prior() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], num_nodes=5, labels=[0, 1, 2, 0, 1])
    prior = np.array([0.5, 0.3, 0.2])
    columns = NeighbourLabels.count(
        NeighbourMean.of(graph),
        np.arange(5),
        graph.labels,
        np.array([0, 1, 2, 0, 1]),
        num_classes=3,
    ).columns(0, prior)
    np.testing.assert_allclose(columns[:, :3].sum(axis=1), 1)
    np.testing.assert_allclose(columns[:, 4:7].sum(axis=1), 1)
    np.testing.assert_allclose(columns[3], [*prior, 0, *prior, 0])


@pytest.mark.parametrize("hubs", [0, 5])
def test_random_labels_give_no_gain(hubs: int) -> None:
    """A leak would show as a gain, or as a loss: a training node that sees itself misleads."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 400)
        features = rng.normal(size=(400, 3)) + 0.5 * labels[:, None]
        graph = random_edges(labels, edges=1600, hubs=hubs, seed=seed, features=features)
        scores = probe_sources(graph, quick=True, seed=seed).scores["linear"]
        gains.append(scores["own+labels"] - scores["own"])
    assert abs(np.mean(gains)) < 0.03


def test_a_label_that_is_known_exactly_from_the_neighbours_is_found() -> None:
    """Pairs of the same class in different folds: whoever sees its partner knows everything."""
    labels = np.repeat(np.arange(100) % 4, 2)
    graph = Graph.from_edges(range(0, 200, 2), range(1, 200, 2), labels=labels)
    fold = stratified_folds(labels, folds=5, rng=np.random.default_rng(0))
    found = NeighbourLabels.count(
        NeighbourMean.of(graph), np.arange(200), labels, fold, num_classes=4
    ).columns(0, np.full(4, 0.25))
    partner = np.arange(200) ^ 1
    sees = (fold[partner] != 0) & (fold[partner] != fold)
    assert sees.sum() > 80
    assert (found[sees, :4].argmax(axis=1) == labels[sees]).all()
