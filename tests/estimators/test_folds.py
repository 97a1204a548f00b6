"""GraphKFold divides the labelled nodes."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.estimators.folds import GraphKFold

LABELS = np.array([0, 1, 0, 1, 0, 1, -1, 0, 1, 0, 1, -1, 0, 1])


@pytest.mark.parametrize("stratified", [True, False])
def test_each_labelled_node_is_tested_once_and_no_unlabelled_node_is_used(stratified: bool) -> None:
    tested = []
    for train, test in GraphKFold(3, stratified=stratified).split(np.arange(14), LABELS):
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(np.flatnonzero(LABELS >= 0))
        tested.extend(test)
    assert sorted(tested) == np.flatnonzero(LABELS >= 0).tolist()


def test_stratified_folds_have_the_proportions_of_the_classes() -> None:
    for _, test in GraphKFold(3).split(np.arange(14), LABELS):
        assert np.bincount(LABELS[test]).tolist() == [2, 2]


def test_a_graph_brings_its_own_labels() -> None:
    graph = Graph.from_edges([0], [1], labels=LABELS)
    pairs = zip(GraphKFold(3).split(graph), GraphKFold(3).split(None, LABELS), strict=True)
    for mine, same in pairs:
        assert all(np.array_equal(a, b) for a, b in zip(mine, same, strict=True))


def test_the_seed_decides_the_folds() -> None:
    first, again, other = (
        [test.tolist() for _, test in GraphKFold(3, random_state=seed).split(None, LABELS)]
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_missing_or_too_few_labels_are_refused() -> None:
    with pytest.raises(InputError, match="needs y"):
        next(GraphKFold().split(np.arange(3)))
    with pytest.raises(InputError, match="n_splits=5 but 2 nodes have a label"):
        next(GraphKFold().split(None, np.array([0, 1, -1])))
    with pytest.raises(InputError, match="no class has more than 2 nodes"):
        next(GraphKFold(3).split(None, np.array([0, 0, 1, 1])))
