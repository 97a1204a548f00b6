"""Metrics of later papers against slow references that follow their definitions word by word."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UnknownNameError
from heterophily.metrics.classifier_based import CLASSIFIERS, classifier_metric
from heterophily.metrics.feature_edge_similarity import generalized_edge_homophily
from heterophily.metrics.neighbourhoods import (
    cross_class_neighbourhood_similarity,
    neighbourhood_contrast,
    neighbourhood_identifiability,
    structural_homophily,
)
from heterophily.metrics.unbiased_homophily import unbiased_homophily
from heterophily.metrics.walks import (
    PATHS,
    effective_homophily,
    path_homophily,
    two_hop_homophily,
)

N = 24


def random_graph(seed: int, *, weighted: bool = False, **options: Any) -> Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (2, 60))
    weight = rng.uniform(0.5, 2.0, 60) if weighted else None
    features = rng.normal(size=(N, 5)) * (rng.random((N, 5)) < 0.5)
    features = sp.csr_array(features) if seed % 2 else features
    labels = rng.integers(-1, 3, N)
    return Graph.from_edges(*ends, labels=labels, features=features, weight=weight, **options)


def dense(graph: Graph) -> np.ndarray:
    return graph.adjacency.toarray().astype(float)


def shares_of(graph: Graph) -> dict[int, list[np.ndarray]]:
    """Shares of the classes among each node's labelled neighbours, by class of the node."""
    found: dict[int, list[np.ndarray]] = {}
    matrix = dense(graph)
    for v in range(N):
        counts = np.zeros(graph.num_classes)
        for u in range(N):
            if graph.labels[u] >= 0:
                counts[graph.labels[u]] += matrix[v, u]
        if graph.labels[v] >= 0 and counts.sum() > 0:
            found.setdefault(int(graph.labels[v]), []).append(counts / counts.sum())
    return found


# --- unbiased homophily ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_unbiased_homophily_is_the_formula_over_pairs_of_classes(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted)
    matrix, classes = dense(graph), range(graph.num_classes)
    known = graph.labels >= 0
    shares = np.array(
        [[matrix[np.ix_(graph.labels == k, graph.labels == m)].sum() for m in classes]
         for k in classes]
    ) / matrix[np.ix_(known, known)].sum()  # fmt: skip
    above = below = 0.0
    for i, j in itertools.combinations(classes, 2):
        within = np.sqrt(shares[i, i] * shares[j, j])
        above, below = above + within - shares[i, j], below + within + shares[i, j]
    assert unbiased_homophily(graph) == pytest.approx(above / below, abs=1e-12)


def test_unbiased_homophily_is_one_minus_one_and_zero_where_it_must_be() -> None:
    apart = Graph.from_edges([0, 2], [1, 3], labels=[0, 0, 1, 1])
    assert unbiased_homophily(apart) == 1.0
    bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    assert unbiased_homophily(bipartite) == -1.0
    # Every pair of nodes joined, loops too: edges ignore classes of sizes 1 and 5.
    every = Graph(sp.csr_array(np.ones((6, 6))), labels=[0, 1, 1, 1, 1, 1], is_directed=True)
    assert unbiased_homophily(every) == pytest.approx(0.0, abs=1e-15)


def test_an_empty_class_does_not_change_unbiased_homophily() -> None:
    graph = random_graph(2)
    more = graph.replace(class_names=(*graph.class_names, "nobody"))
    assert unbiased_homophily(more) == unbiased_homophily(graph)


def test_unbiased_homophily_of_edges_within_one_class_is_undefined() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1])
    with pytest.raises(InputError, match="all edges lie within one class"):
        unbiased_homophily(graph)


# --- features over edges --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_generalized_edge_homophily_is_the_mean_cosine_over_edges(
    seed: int, weighted: bool
) -> None:
    graph = random_graph(seed, weighted=weighted)
    rows = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    matrix, total = dense(graph), 0.0
    for u, v in zip(*matrix.nonzero(), strict=True):
        sizes = np.linalg.norm(rows[u]) * np.linalg.norm(rows[v])
        total += matrix[u, v] * (rows[u] @ rows[v] / sizes if sizes else 0.0)
    assert generalized_edge_homophily(graph) == pytest.approx(total / matrix.sum(), abs=1e-12)


def test_huge_and_tiny_features_have_a_cosine() -> None:
    features = np.array([[1e200, 0.0], [1e-200, 0.0], [3.0, 4.0]])
    graph = Graph.from_edges([0, 1], [1, 2], features=features)
    assert generalized_edge_homophily(graph) == pytest.approx(0.8)


# --- neighbourhoods -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_identifiability_is_the_entropy_of_singular_values_of_each_class(seed: int) -> None:
    graph = random_graph(seed)
    total, nodes = 0.0, 0
    for rows in shares_of(graph).values():
        values = np.linalg.svd(np.array(rows), compute_uv=False)
        values = values[values > 1e-12] / values.sum()
        total += len(rows) * -(values * np.log(values)).sum()
        nodes += len(rows)
    expected = total / nodes / np.log(graph.num_classes)
    assert neighbourhood_identifiability(graph) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_cross_class_similarity_is_the_mean_cosine_over_pairs_of_nodes(seed: int) -> None:
    graph = random_graph(seed)
    found = cross_class_neighbourhood_similarity(graph)
    by_class = shares_of(graph)
    for k, m in itertools.product(by_class, repeat=2):
        cosines = [
            a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a in by_class[k] for b in by_class[m]
        ]
        assert found[k, m] == pytest.approx(np.mean(cosines), abs=1e-12)
    within = np.mean([found[k, k] for k in by_class])
    between = np.mean([found[k, m] for k, m in itertools.permutations(by_class, 2)])
    assert neighbourhood_contrast(graph) == pytest.approx(within - between, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_structural_homophily_compares_spreads_with_the_largest_one(seed: int) -> None:
    graph = random_graph(seed)
    count = graph.num_classes
    largest = np.sqrt((1 - 1 / count) / count)
    spreads = [np.array(rows).std(axis=0).mean() / largest for rows in shares_of(graph).values()]
    assert structural_homophily(graph) == pytest.approx(1 - np.mean(spreads), abs=1e-12)


def test_reliable_neighbours_of_another_class_are_identifiable_and_random_ones_are_not() -> None:
    labels = np.arange(300) % 3
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(300), 4)
    to_next = 3 * rng.integers(0, 100, source.size) + (labels[source] + 1) % 3
    reliable = Graph.from_edges(source, to_next, labels=labels, direction="keep")
    random = Graph.from_edges(source, rng.integers(0, 300, source.size), labels=labels)
    assert neighbourhood_identifiability(reliable) == pytest.approx(0.0, abs=1e-6)
    assert neighbourhood_identifiability(random) > 0.6
    assert neighbourhood_contrast(reliable) == pytest.approx(1.0)
    assert abs(neighbourhood_contrast(random)) < 0.05


# --- walks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("direction", ["drop", "keep"])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_hop_homophily_counts_walks_one_by_one(
    seed: int, direction: str, weighted: bool
) -> None:
    graph = random_graph(seed, weighted=weighted, direction=direction, self_loops="keep")
    matrix = dense(graph)
    np.fill_diagonal(matrix, 0.0)
    same = every = 0.0
    for u, w, v in itertools.product(range(N), repeat=3):
        walk = matrix[u, w] * matrix[w, v]
        if walk and u != v and graph.labels[u] >= 0 and graph.labels[v] >= 0:
            every += walk
            same += walk * (graph.labels[u] == graph.labels[v])
    assert two_hop_homophily(graph) == pytest.approx(same / every, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", PATHS)
def test_path_homophily_is_the_weighted_homophily_of_a_product(
    seed: int, path: tuple[str, ...]
) -> None:
    graph = random_graph(seed, direction="keep")
    matrix = np.eye(N)
    for step in path:
        matrix = matrix @ (dense(graph) if step == "out" else dense(graph).T)
    known = graph.labels >= 0
    found = []
    for v in np.flatnonzero(known):
        ends = matrix[v] * known
        if ends.sum() > 0:
            found.append(ends[graph.labels == graph.labels[v]].sum() / ends.sum())
    assert path_homophily(graph, path) == pytest.approx(np.mean(found), abs=1e-12)


def test_effective_homophily_is_that_of_the_best_path() -> None:
    graph = random_graph(1, direction="keep")
    assert effective_homophily(graph) == max(path_homophily(graph, path) for path in PATHS)
    undirected = random_graph(1)
    ways = [path_homophily(undirected, path) for path in (("out",), ("out", "out"))]
    assert effective_homophily(undirected) == max(ways)
    with pytest.raises(InputError, match="its steps are 'out' and 'in'"):
        path_homophily(graph, ("up",))


# --- classifiers ----------------------------------------------------------------------------------


def grouped(homophily: float) -> Graph:
    """Classes with overlapping features; an edge stays in its class with this probability."""
    rng = np.random.default_rng(5)
    labels = np.arange(200) % 2
    source = np.repeat(np.arange(200), 4)
    stays = rng.random(source.size) < homophily
    parity = np.where(stays, labels[source], 1 - labels[source])
    target = 2 * rng.integers(0, 100, source.size) + parity
    features = rng.normal(size=(200, 3)) + 0.8 * labels[:, None]
    return Graph.from_edges(source, target, labels=labels, features=features)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_prefer_aggregated_features_exactly_where_neighbours_are_alike(
    name: str,
) -> None:
    options = {"repeats": 12, "max_nodes": 120}
    alike = classifier_metric(grouped(0.95), name, rng=np.random.default_rng(0), **options)
    mixed = classifier_metric(grouped(0.5), name, rng=np.random.default_rng(0), **options)
    assert alike.p_value < 0.05
    assert alike.difference > 0.05
    assert mixed.p_value > 0.9
    assert mixed.difference < 0.0


def test_classifier_metrics_draw_from_the_given_generator_and_refuse_what_they_cannot() -> None:
    graph = grouped(0.8)
    first, second = (
        classifier_metric(graph, rng=np.random.default_rng(3), repeats=5) for _ in range(2)
    )
    assert first == second
    with pytest.raises(UnknownNameError, match="unknown classifier 'svm'"):
        classifier_metric(graph, "svm", rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="the graph has no features"):
        classifier_metric(graph.replace(features=None), rng=np.random.default_rng(0))
    few = Graph.from_edges([0], [1], labels=[0, 1], features=np.eye(2))
    with pytest.raises(InputError, match="too few to train and test"):
        classifier_metric(few, rng=np.random.default_rng(0))
