"""The class compatibility matrix."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph
from heterophily.metrics.class_compatibility import class_compatibility


def test_rows_are_shares_of_the_edges_of_a_class() -> None:
    graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], labels=[0, 0, 1, 2])
    np.testing.assert_allclose(
        class_compatibility(graph), [[2 / 5, 2 / 5, 1 / 5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    )


def test_a_class_without_edges_has_a_zero_row() -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 0, 1])
    assert class_compatibility(graph).tolist() == [[1.0, 0.0], [0.0, 0.0]]
