"""Label informativeness, worked out by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.label_informativeness import label_informativeness


def test_bipartite_classes_tell_everything_and_a_balanced_ring_nothing() -> None:
    bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    assert label_informativeness(bipartite) == pytest.approx(1.0)
    ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], labels=[0, 0, 1, 1])
    assert label_informativeness(ring) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("direction", ["drop", "keep"])
def test_it_is_mutual_information_over_entropy_of_the_edge_ends(direction: str) -> None:
    rng = np.random.default_rng(5)
    ends, labels = rng.integers(0, 30, (2, 90)), rng.integers(0, 3, 30)
    graph = Graph.from_edges(*ends, labels=labels, direction=direction)  # type: ignore[arg-type]
    edges = graph.adjacency.tocoo()
    source, target = labels[edges.coords[0]], labels[edges.coords[1]]
    expected = mutual_info_score(source, target) / mutual_info_score(source, source)
    assert label_informativeness(graph) == pytest.approx(expected)


def test_edges_from_one_class_only_are_refused() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1])
    with pytest.raises(InputError, match="all edges start in one class"):
        label_informativeness(graph)
