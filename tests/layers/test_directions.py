from __future__ import annotations

import numpy as np
import pytest
import torch

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.directions import directions_of
from heterophily.layers.inputs import GraphInputs, InputOptions

WITH_A = InputOptions(with_structure=True)


def arrow_inputs() -> GraphInputs:
    """0 -> 1, 0 -> 2, 1 -> 2."""
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], labels=[0, 1, 0], direction="keep")
    return GraphInputs.from_graph(graph, WITH_A, dtype=torch.float64)


def test_both_directions_are_normalised_by_their_own_degrees():
    found = directions_of(arrow_inputs(), "symmetric", with_loops=False)
    half = np.sqrt(0.5)
    wanted = [[0.0, half, 0.5], [0.0, 0.0, half], [0.0, 0.0, 0.0]]
    forward, backward = (p.matrix.to_scipy().toarray() for p in (found.forward, found.backward))
    np.testing.assert_allclose(forward, wanted)
    np.testing.assert_allclose(backward, np.transpose(wanted))


def test_rows_of_the_random_walk_add_up_to_one_where_there_are_edges():
    found = directions_of(arrow_inputs(), "random-walk", with_loops=False)
    ones = torch.ones(3, 1, dtype=torch.float64)
    assert found.forward(ones).flatten().tolist() == [1.0, 1.0, 0.0]
    assert found.backward(ones).flatten().tolist() == [0.0, 1.0, 1.0]


def test_they_are_worked_out_once_and_one_operator_serves_an_undirected_graph():
    inputs = arrow_inputs()
    first = directions_of(inputs, "symmetric", with_loops=True)
    assert directions_of(inputs, "symmetric", with_loops=True) is first
    assert first.is_one_way
    path = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0])
    both = directions_of(GraphInputs.from_graph(path, WITH_A), "random-walk", with_loops=True)
    assert not both.is_one_way


def test_inputs_without_a_are_refused():
    path = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0])
    with pytest.raises(InputError, match="with_structure=True"):
        directions_of(GraphInputs.from_graph(path), "symmetric", with_loops=True)
