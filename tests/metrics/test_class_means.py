"""Class means against the dense N x N similarity matrix, and equation (6)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import HIGH, IDENTITY, LOW, Filter
from heterophily.filters.normalization import Normalization, normalized_adjacency
from heterophily.metrics import class_means as module
from heterophily.metrics.class_means import (
    ClassMeans,
    compared_nodes,
    feature_class_means,
    label_class_means,
)


def random_graph(seed: int, *, dense: bool = True, weighted: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    features = np.where(rng.random((30, 8)) < 0.3, rng.normal(size=(30, 8)), 0.0)
    features[4] = 0.0
    labels = rng.integers(-1, 4, 30)
    return Graph.from_edges(
        *rng.integers(0, 30, (2, 60)),
        weight=rng.uniform(0.5, 2.0, 60) if weighted else None,
        features=features if dense else sp.csr_array(features),
        labels=labels,
        self_loops="keep",
    )


def dense_means(
    graph: Graph, signal: np.ndarray, operator: np.ndarray, compared: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    filtered = operator @ signal
    similarity = filtered @ filtered.T  # (N, N)
    own, other = np.zeros(graph.num_nodes), np.zeros(graph.num_nodes)
    for v in np.flatnonzero(compared):
        same = compared & (graph.labels == graph.labels[v])
        own[v] = similarity[v, same].mean()
        other[v] = similarity[v, compared & ~same].mean()
    return own, other


def dense_filter(
    graph: Graph, filter: Filter, kind: Normalization, renormalize: bool
) -> np.ndarray:
    operator = normalized_adjacency(graph.adjacency, kind=kind, renormalize=renormalize).toarray()
    return filter.identity * np.eye(graph.num_nodes) + filter.aggregate * operator


def assert_equal(means: ClassMeans, expected: tuple[np.ndarray, np.ndarray]) -> None:
    for ours, theirs in zip((means.own, means.other), expected, strict=True):
        np.testing.assert_allclose(ours[means.is_compared], theirs[means.is_compared], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("kind", ["random-walk", "symmetric"])
@pytest.mark.parametrize("filter", [LOW, HIGH, IDENTITY, Filter(0.5, 2.0)])
def test_label_means_equal_the_dense_reference(
    filter: Filter, kind: Normalization, renormalize: bool, weighted: bool
) -> None:
    graph = random_graph(0, weighted=weighted)
    one_hot = np.eye(graph.num_classes)[graph.labels] * graph.is_labelled[:, None]
    for compared in (graph.is_labelled, graph.is_labelled & (np.arange(30) % 3 > 0)):
        means = label_class_means(
            graph,
            filter=filter,
            normalization=kind,
            renormalize=renormalize,
            is_compared=compared,
        )
        operator = dense_filter(graph, filter, kind, renormalize)
        assert_equal(means, dense_means(graph, one_hot, operator, compared))


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("normalize_features", [False, True])
@pytest.mark.parametrize("kind", ["random-walk", "symmetric"])
@pytest.mark.parametrize("filter", [LOW, HIGH, IDENTITY, Filter(0.5, 2.0)])
def test_feature_means_equal_the_dense_reference(
    filter: Filter,
    kind: Normalization,
    normalize_features: bool,
    dense: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_BLOCK", 7)
    graph = random_graph(1, dense=dense, weighted=True)
    signal = graph.features if dense else graph.features.toarray()  # type: ignore[union-attr]
    assert isinstance(signal, np.ndarray)
    if normalize_features:
        signal = signal / np.maximum(np.abs(signal).sum(axis=1, keepdims=True), 1e-300)
    for compared in (graph.is_labelled, graph.is_labelled & (np.arange(30) % 3 > 0)):
        means = feature_class_means(
            graph,
            filter=filter,
            normalization=kind,
            renormalize=True,
            normalize_features=normalize_features,
            is_compared=compared,
            metric="test",
        )
        operator = dense_filter(graph, filter, kind, True)
        assert_equal(means, dense_means(graph, signal, operator, compared))
        if kind == "random-walk":
            assert (np.abs(means.own) <= means.scale + 1e-15)[compared].all()


def test_the_sgc_update_is_the_similarity_matrix_times_the_error() -> None:
    """Equation (6): a step of gradient descent moves the logits of SGC along S(Â, X)(Z - Y)."""
    graph = random_graph(2)
    assert isinstance(graph.features, np.ndarray)
    aggregated = normalized_adjacency(graph.adjacency) @ graph.features
    one_hot = np.eye(graph.num_classes)[np.maximum(graph.labels, 0)]
    inputs, targets = torch.from_numpy(aggregated), torch.from_numpy(one_hot)
    weight = torch.randn(
        8, graph.num_classes, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    weight.requires_grad_()
    predictions = torch.softmax(inputs @ weight, dim=1)
    loss = -torch.trace(targets.T @ torch.log(predictions))
    (gradient,) = torch.autograd.grad(loss, weight)
    step = aggregated @ -gradient.numpy()
    similarity = aggregated @ aggregated.T
    error = one_hot - predictions.detach().numpy()
    np.testing.assert_allclose(step, similarity @ error, atol=1e-12)


def test_compared_nodes_must_be_a_mask_with_two_classes() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1])
    with pytest.raises(InputError, match="a mask of 3 booleans, got int64"):
        compared_nodes(graph, [0, 1], "the metric")
    with pytest.raises(InputError, match="fewer than two"):
        compared_nodes(graph, [True, True, False], "the metric")
