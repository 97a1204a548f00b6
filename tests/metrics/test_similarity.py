from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import HIGH, IDENTITY, LOW
from heterophily.filters.normalization import normalized_adjacency
from heterophily.metrics.aggregation_similarity import aggregation_similarity
from heterophily.metrics.similarity import similarity


def graph(*, is_sparse: bool = True) -> Graph:
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, 19, size=(2, 40))
    features = np.where(rng.random((20, 7)) < 0.5, rng.normal(size=(20, 7)), 0.0)
    return Graph.from_edges(
        source,
        target,
        features=sp.csr_array(features) if is_sparse else features,
        labels=rng.integers(0, 3, size=20),
        num_nodes=20,
    )


def dense(given: Graph, filter, kind, features):
    a_hat = normalized_adjacency(given.adjacency, kind=kind).toarray()
    signal = (filter.identity * np.eye(20) + filter.aggregate * a_hat) @ features
    return signal @ signal.T


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("filter", [LOW, HIGH, IDENTITY])
@pytest.mark.parametrize("kind", ["random-walk", "symmetric"])
def test_products_blocks_and_diagonal_are_those_of_the_dense_matrix(is_sparse, filter, kind):
    given = graph(is_sparse=is_sparse)
    features = given.features.toarray() if is_sparse else given.features
    wanted = dense(given, filter, kind, features)
    found = similarity(given, filter=filter, normalization=kind)
    signal = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(found @ signal, wanted @ signal, atol=1e-12)
    np.testing.assert_allclose(found @ signal[:, 0], wanted @ signal[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.block([3, 11]), wanted[[3, 11]], atol=1e-12)
    np.testing.assert_allclose(np.vstack([rows for _, rows in found.blocks(7)]), wanted, atol=1e-12)
    np.testing.assert_allclose(found.diagonal(size=3), np.diag(wanted), atol=1e-12)
    np.testing.assert_allclose(found.linear_operator() @ signal, wanted @ signal, atol=1e-12)


def test_aggregation_similarity_is_the_share_of_rows_whose_own_class_has_the_larger_mean():
    """Eq. 7, from the rows themselves."""
    given = graph()
    wins = 0
    for part, rows in similarity(given).blocks(6):
        for node, row in zip(range(part.start, part.stop), rows, strict=True):
            same = given.labels == given.labels[node]
            wins += row[same].mean() >= row[~same].mean()
    assert wins / 20 == aggregation_similarity(given)


def test_labels_take_the_place_of_features():
    given = graph()
    wanted = dense(given, LOW, "random-walk", np.eye(3)[given.labels])
    np.testing.assert_allclose(similarity(given, use_labels=True).block(np.arange(20)), wanted)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="use_labels=True"):
        similarity(Graph.from_edges([0], [1], labels=[0, 1]))
    found = similarity(graph())
    with pytest.raises(InputError, match=r"expected \(20,\)"):
        found @ np.ones(5)
    with pytest.raises(InputError, match="from 0 to 19"):
        found.block([20])
    with pytest.raises(InputError, match="at least one row"):
        next(found.blocks(0))
