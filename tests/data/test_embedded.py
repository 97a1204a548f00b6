from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import networkx as nx
import numpy as np
import pytest

from heterophily.data import embedded
from heterophily.data.embedded import EMBEDDED, davis, digits_features, karate
from heterophily.data.graph import Graph
from heterophily.errors import MissingExtraError


def share_of_equal_labels(graph: Graph) -> float:
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.adjacency.indptr))
    return float((graph.labels[rows] == graph.labels[graph.adjacency.indices]).mean())


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes", "edge_homophily"),
    [
        ("davis", 32, 89, 0, 2, 0.0),
        ("karate", 34, 78, 0, 2, 0.859),
        ("cora-content", 2708, 5278, 1433, 7, 0.810),
        ("imdb", 2939, 19736, 1256, 3, 0.517),
    ],
)
def test_counts_and_edge_homophily_are_the_published_ones(
    name: str, nodes: int, edges: int, features: int, classes: int, edge_homophily: float
) -> None:
    graph = EMBEDDED[name]().graph()
    found = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert found == (nodes, edges, features, classes)
    assert share_of_equal_labels(graph) == pytest.approx(edge_homophily, abs=5e-4)


def test_davis_is_bipartite_with_the_sides_as_labels() -> None:
    graph = davis().graph()
    assert dict(zip(graph.class_names, np.bincount(graph.labels), strict=True)) == {
        "woman": 18,
        "event": 14,
    }
    assert "Evelyn Jefferson" in graph.node_ids
    assert graph.features is None


def test_karate_is_the_graph_of_networkx_without_its_weights() -> None:
    graph = karate().graph()
    expected = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None)
    assert (graph.adjacency != expected).nnz == 0
    assert graph.class_names == ("Mr. Hi", "Officer")
    assert graph.labels[0] == 0
    assert graph.labels[33] == 1


def test_imdb_links_exactly_the_movies_with_a_common_actor() -> None:
    graph = EMBEDDED["imdb"]().graph()
    roles = embedded._table("imdb", "imdb_acted_in").to_pydict()
    number = {movie: node for node, movie in enumerate(graph.node_ids.tolist())}
    movies_of: dict[int, set[int]] = {}
    for actor, movie in zip(roles["sourceNodeId"], roles["targetNodeId"], strict=True):
        if movie in number:
            movies_of.setdefault(actor, set()).add(number[movie])
    pairs = {pair for movies in movies_of.values() for pair in permutations(movies, 2)}
    rows, columns = graph.adjacency.nonzero()
    assert pairs == set(zip(rows.tolist(), columns.tolist(), strict=True))


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterophily\[data\]'"):
        EMBEDDED["imdb"]()


def test_digits_are_1797_images_of_64_pixels() -> None:
    features, labels = digits_features()
    assert (features.shape, labels.shape) == ((1797, 64), (1797,))
    assert (features.min(), features.max(), labels.max()) == (0, 16, 9)


def test_reading_cora_does_not_import_the_package_that_holds_it() -> None:
    code = (
        "import sys; from heterophily.data.embedded import cora_content; cora_content(); "
        "print('graphdatascience' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
