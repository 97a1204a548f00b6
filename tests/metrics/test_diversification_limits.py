from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.synthetic.toy import toy_graph
from heterophily.filters.filter import HIGH
from heterophily.metrics.diversification_limits import alike_after_diversification
from heterophily.metrics.similarity import similarity


def star_of_classes(*, inner: bool = False) -> Graph:
    """Two small classes, each linked to a large one (or within themselves, if ``inner``)."""
    small, large = 6, 30
    rng = np.random.default_rng(0)
    labels = [0] * small + [1] * small + [2] * large
    edges = [(v, 2 * small + u) for v in range(2 * small) for u in rng.integers(0, large, size=8)]
    if inner:
        groups = (range(small), range(small, 2 * small))
        edges = [(v, u) for group in groups for v in group for u in group if v < u]
    source, target = np.array(edges).T
    return Graph.from_edges(source, target, labels=labels, num_nodes=len(labels))


def test_small_classes_around_one_large_class_are_alike():
    (pair,) = alike_after_diversification(star_of_classes())
    assert (pair.first, pair.second, pair.shared) == (0, 1, 2)
    assert pair.likeness == pytest.approx(0.5, abs=0.02)
    assert pair.share == pytest.approx(0.87, abs=0.03)


def test_classes_among_themselves_are_not():
    assert alike_after_diversification(star_of_classes(inner=True)) == ()


def test_likeness_is_that_of_the_similarity_matrix():
    given = toy_graph("diversification-fails")
    s = similarity(given, filter=HIGH, use_labels=True).block(np.arange(8))
    first, last = given.labels == 0, given.labels == 3
    within = np.sqrt(s[np.ix_(first, first)].mean() * s[np.ix_(last, last)].mean())
    pair = alike_after_diversification(given)[0]
    assert pair.likeness == pytest.approx(s[np.ix_(first, last)].mean() / within)


def test_two_classes_are_always_told_apart():
    """Theorem 1."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        source, target = rng.integers(0, 12, size=(2, 30))
        labels = np.r_[0, 1, rng.integers(0, 2, size=10)]
        given = Graph.from_edges(source, target, labels=labels, num_nodes=12)
        assert alike_after_diversification(given, likeness=1e-9) == ()
