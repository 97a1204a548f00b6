from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.layers.sparse_features import SparseFeatures


@pytest.fixture
def graph():
    features = sp.csr_array([[2.0, 0.0, 0.0, 0.0, 2.0], [0.0] * 5, [0.0, -1.0, 3.0, 0.0, 0.0]])
    return Graph.from_edges([0, 1], [1, 2], features=features, labels=[0, 1, 0])


def dense(features):
    return features @ torch.eye(features.shape[1])


def test_rows_are_divided_by_their_absolute_sum_and_zero_rows_stay_zero(graph):
    counts = InputOptions(features="counts")
    rows = dense(GraphInputs.from_graph(graph, counts).features)
    assert rows.tolist() == [[0.5, 0, 0, 0, 0.5], [0] * 5, [0, -0.25, 0.75, 0, 0]]
    raw = GraphInputs.from_graph(graph, replace(counts, row_normalize=False)).features
    assert dense(raw)[0].tolist() == [2, 0, 0, 0, 2]


def test_the_operator_is_the_random_walk_with_loops_and_the_structure_is_the_adjacency(graph):
    inputs = GraphInputs.from_graph(graph, InputOptions(with_structure=True))
    expected = torch.tensor([[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]])
    torch.testing.assert_close(inputs.operator(torch.eye(3)), expected)
    assert inputs.structure(torch.eye(3)).tolist() == graph.adjacency.toarray().tolist()
    assert GraphInputs.from_graph(graph).structure is None


def test_features_with_few_zeros_stay_dense_and_mostly_zero_ones_become_sparse(graph):
    full = graph.replace(features=np.ones((3, 2)))
    assert isinstance(GraphInputs.from_graph(full).features, torch.Tensor)
    few = graph.replace(features=np.eye(3, 9))
    assert isinstance(GraphInputs.from_graph(few).features, SparseFeatures)


def test_a_graph_without_features_gets_indicators_and_says_so(graph):
    inputs = GraphInputs.from_graph(graph.replace(features=None))
    assert torch.equal(dense(inputs.features), torch.eye(3))
    assert inputs.num_features == 3
    assert "no features" in inputs.remarks[0]


def test_inputs_survive_the_way_to_another_process(graph):
    inputs = GraphInputs.from_graph(graph, dtype=torch.float64)
    copy = pickle.loads(pickle.dumps(inputs))
    eye = torch.eye(3, dtype=torch.float64)
    assert torch.equal(copy.operator(eye), inputs.operator(eye))


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(InputError, match="choose random-walk or symmetric"):
        InputOptions(normalization="row")


def test_a_node_hears_those_it_points_to_those_that_point_to_it_or_both():
    directed = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0], direction="keep")
    expected = {
        "given": [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        "reversed": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        "both": [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
    }
    for way, rows in expected.items():
        options = InputOptions(with_structure=True, edge_direction=way)
        inputs = GraphInputs.from_graph(directed, options)
        assert inputs.structure(torch.eye(3)).tolist() == rows
        with_loops = torch.tensor(rows) + torch.eye(3)
        torch.testing.assert_close(
            inputs.operator(torch.eye(3)), with_loops / with_loops.sum(1, keepdim=True)
        )
    assert InputOptions() == InputOptions(edge_direction="given")


def test_an_unknown_edge_direction_is_refused_with_the_choices():
    with pytest.raises(
        InputError, match="edge_direction='in'; choose one of given, both, reversed"
    ):
        InputOptions(edge_direction="in")
