"""The heat maps show S(A, X) and S(I - A, X)."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.synthetic.toy import toy_graph
from heterophily.errors import InputError
from heterophily.filters.filter import HIGH, LOW
from heterophily.report.toy_figures import heat_maps, similarity_matrix


def test_similarity_of_an_edge_worked_out_by_hand() -> None:
    """Both nodes of an edge have the mean of their labels: A Z = (1/2, 1/2) in each row."""
    edge = Graph.from_edges([0], [1], labels=[0, 1], features=np.eye(2))
    assert similarity_matrix(edge, LOW) == pytest.approx(np.full((2, 2), 0.5))
    assert similarity_matrix(edge, HIGH) == pytest.approx(np.array([[0.5, -0.5], [-0.5, 0.5]]))


def test_every_entry_is_written_in_its_cell() -> None:
    graph = toy_graph("diversification-helps")
    for panel, filter in zip(heat_maps(graph).axes, (LOW, HIGH), strict=True):
        shown = np.zeros((7, 7))
        for text in panel.texts:
            column, row = (int(value) for value in text.get_position())
            shown[row, column] = float(text.get_text())
        assert shown == pytest.approx(similarity_matrix(graph, filter), abs=0.0051)


def test_large_graphs_and_graphs_without_features_are_refused() -> None:
    with pytest.raises(InputError, match="at most 30"):
        similarity_matrix(Graph.from_edges([0], [1], num_nodes=31), LOW)
    with pytest.raises(InputError, match="has no features"):
        similarity_matrix(Graph.from_edges([0], [1]), LOW)
