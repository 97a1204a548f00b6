"""The feature part of Tri-Hom."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.feature_homophily import feature_homophily, spectral_radius


def _random(seed: int, nodes: int = 40, *, directed: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, 4 * nodes))
    labels = np.r_[0, 1, 2, rng.integers(-1, 3, nodes - 3)]
    return Graph.from_edges(
        source, target, num_nodes=nodes, labels=labels, features=rng.normal(size=(nodes, 5)),
        direction="keep" if directed else "drop",
    )  # fmt: skip


def _naive(graph: Graph) -> float:
    """The 201 values of the released program, one column after the other."""
    adjacency = graph.adjacency.toarray().astype(float)
    radius = np.abs(np.linalg.eigvals(adjacency)).max()
    features = np.asarray(graph.features, float)
    best = []
    for column in features.T:
        spreads = []
        for share in np.arange(-100, 101) / 100:
            rest = column - share / radius * adjacency @ column
            spreads.append(
                sum(((rest[graph.labels == k] - rest[graph.labels == k].mean()) ** 2).sum()
                    for k in range(graph.num_classes))
            )  # fmt: skip
        best.append(np.argmin(spreads) / 100 - 1)
    return float(np.mean(best))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [False, True])
def test_it_is_the_best_of_all_shares(seed: int, directed: bool) -> None:
    graph = _random(seed, directed=directed)
    assert feature_homophily(graph) == pytest.approx(_naive(graph), abs=0.0051)


@pytest.mark.parametrize("share", [-0.8, 0.0, 0.3, 0.95])
def test_features_made_with_a_share_give_it_back(share: float) -> None:
    graph = _random(0)
    graph = graph.replace(labels=np.arange(graph.num_nodes) % 3)
    adjacency = graph.adjacency.toarray().astype(float)
    radius = np.abs(np.linalg.eigvalsh(adjacency)).max()
    by_class = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])[graph.labels]
    made = np.linalg.solve(np.eye(graph.num_nodes) - share / radius * adjacency, by_class)
    assert feature_homophily(graph.replace(features=made)) == pytest.approx(share, abs=1e-9)


def test_a_path_of_three_by_hand() -> None:
    # One class, radius √2.
    # x = (1, 2, 0): A x = (2, 1, 2), x' = (0, 1, -1), (A x)' = (1, -2, 1) / 3;
    # ω = <x', (A x)'> / |(A x)'|² · √2 = -1 / (2/3) · √2 < -1, cut to -1
    features = np.array([[1.0], [2.0], [0.0]])
    path = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 0], features=features)
    assert feature_homophily(path) == -1.0
    # x = (3, 0, 0): A x = (0, 3, 0), x' = (2, -1, -1), (A x)' = (-1, 2, -1): ω = -3 / 6 · √2
    path = path.replace(features=np.array([[3.0], [0.0], [0.0]]))
    assert feature_homophily(path) == pytest.approx(-np.sqrt(2) / 2)


def test_sparse_and_dense_features_and_their_scale_give_the_same() -> None:
    graph = _random(1)
    dense = np.where(np.abs(np.asarray(graph.features)) > 1, graph.features, 0.0)  # type: ignore[arg-type]
    values = [
        feature_homophily(graph.replace(features=features))
        for features in (dense, sp.csr_array(dense), 1e200 * dense)
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_the_radius_of_a_larger_graph_is_that_of_all_eigenvalues(directed: bool) -> None:
    adjacency = sp.csr_array(_random(2, 150, directed=directed).adjacency, dtype=np.float64)
    expected = np.abs(np.linalg.eigvals(adjacency.toarray())).max()
    assert spectral_radius(adjacency) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": None}, "no features"),
        ({"features": np.zeros((40, 2))}, "do not differ"),
        ({"adjacency": sp.csr_array((40, 40))}, "no edge leads on"),
    ],
)
def test_undefined_cases_say_why(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        feature_homophily(_random(3).replace(**changes))
