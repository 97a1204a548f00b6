"""The graph value: what it accepts, what it refuses, what identifies it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph, same_content
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError

PINNED_HASH = "4e932d115daf5a4ec1627119f2d5bed543c4fc23b9361d9001109ebf3c4f2e98"


def path(**parts: Any) -> Graph:
    """The path 0 - 1 - 2."""
    return Graph.from_edges([0, 1], [1, 2], **{"labels": [0, 0, 1], **parts})


def test_sizes_of_a_path() -> None:
    graph = path(features=np.eye(3))
    sizes = graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes
    assert sizes == (3, 2, 3, 2)
    assert repr(graph) == "Graph('graph', nodes=3, edges=2, features=3, classes=2)"


def test_a_kept_self_loop_counts_as_one_edge() -> None:
    graph = Graph.from_edges([0, 1], [1, 1], self_loops="keep")
    assert graph.num_edges == 2


def test_a_directed_graph_counts_ordered_pairs() -> None:
    assert Graph.from_edges([0, 1, 1], [1, 0, 2], direction="keep").num_edges == 3


def test_labels_are_numbered_in_increasing_order_and_named_by_their_digits() -> None:
    graph = path(labels=[30, -1, 4])
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.class_names == ("4", "30")
    assert graph.is_labelled.tolist() == [True, False, True]


def test_nothing_in_a_graph_can_be_written_to() -> None:
    graph = path(features=sp.csr_array(np.eye(3)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.name = "other"  # type: ignore[misc]
    for array in (graph.labels, graph.node_ids, graph.adjacency.data, graph.features.indices):  # type: ignore[union-attr]
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_arrays_of_the_caller_stay_his_own(make: Any) -> None:
    features, adjacency = make(np.eye(2)), sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    graph = Graph(adjacency, features=features)
    before = graph.content_hash
    features[0, 0] = 5.0
    adjacency.data[:] = 7.0
    assert graph.replace(name="again").content_hash == before
    assert Graph(adjacency, features=features).content_hash != before


def test_replace_shares_what_it_does_not_change() -> None:
    graph = path(features=np.eye(3))
    other = graph.replace(name="other")
    assert other.features is graph.features
    assert other.adjacency is graph.adjacency
    assert same_content(graph, other)


def test_content_hash_does_not_depend_on_storage() -> None:
    dense = np.array([[1.0, 0.0], [0.0, 0.5], [2.0, 0.0]])
    graphs = [
        path(features=dense),
        path(features=sp.csr_array(dense)),
        path(features=dense.astype(np.float32)),
        path(features=sp.coo_array(dense)),
    ]
    assert len({graph.content_hash for graph in graphs}) == 1


def test_content_hash_is_the_same_on_every_machine() -> None:
    graph = path(features=np.array([[1.0, 0.0], [0.0, 0.5], [2.0, 0.0]]))
    assert graph.content_hash == PINNED_HASH


@pytest.mark.parametrize(
    "change",
    [
        {"labels": [0, 1, 1]},
        {"features": np.ones((3, 1))},
        {"features": None},
        {"weight": [1.0, 2.0]},
        {"num_nodes": 4, "labels": [0, 0, 1, -1], "features": np.eye(4, 3)},
    ],
)
def test_content_hash_sees_every_change(change: dict[str, Any]) -> None:
    assert (
        path(features=np.eye(3)).content_hash
        != path(**{"features": np.eye(3), **change}).content_hash
    )


def test_same_content_sees_names_ids_and_splits() -> None:
    masks = np.eye(3, dtype=bool)[:, None, :]
    graph = path()
    assert not same_content(graph, path(class_names=("a", "b")))
    assert not same_content(graph, path(node_ids=[5, 6, 7]))
    assert not same_content(graph, path(splits=SplitBatch(*masks)))
    assert not same_content(path(splits=SplitBatch(*masks)), path(splits=SplitBatch(*masks[::-1])))
    assert same_content(graph, path(node_ids=["0", "1", "2"]))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"labels": [0, 0]}, r"labels have shape \(2,\), expected \(3,\)|source\[|target\["),
        ({"labels": [0, -2, 1]}, r"labels\[1\] = -2; labels are 0, 1, 2, \.\.\. and -1"),
        ({"labels": [0, 0.5, 1]}, "labels must be whole numbers"),
        ({"labels": [0, np.inf, 1]}, "labels must be whole numbers"),
        ({"labels": [0, 2, 1], "class_names": ("a", "b")}, r"labels\[1\] = 2 but there are 2"),
        ({"features": np.eye(2)}, r"features have shape \(2, 2\), expected \(3, F\)"),
        ({"features": [[1.0], [np.nan], [0.0]]}, r"features\[1, 0\] is not a finite number"),
        (
            {"features": sp.csr_array([[0, 1.0], [np.inf, 0], [0, 0]])},
            r"features\[1, 0\] is not a finite number",
        ),
        ({"features": [["a"], ["b"], ["c"]]}, "features must be numbers"),
        ({"node_ids": [1, 2, 1]}, "node id 1 occurs more than once"),
        ({"node_ids": [1.5, 2.5, 3.5]}, "node_ids must be 3 integers or strings"),
        ({"splits": SplitBatch(*np.eye(4, dtype=bool)[:3, None])}, "splits are for 4 nodes"),
    ],
)
def test_bad_parts_are_refused_by_name(parts: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        path(**{"num_nodes": 3, **parts})


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[0, 1], [0, 0]], "not symmetric"),
        ([[0, -1], [-1, 0]], "negative or non-finite"),
        ([[0, 1, 0], [1, 0, 0]], r"shape \(2, 3\), expected \(N, N\)"),
    ],
)
def test_bad_matrices_are_refused(matrix: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Graph(sp.csr_array(matrix))


def test_stored_zeros_are_no_edges() -> None:
    matrix = sp.csr_array((np.array([1.0, 1.0, 0.0]), ([0, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert Graph(matrix).adjacency.nnz == 2


def test_number_of_nodes_comes_from_labels_then_features_then_edges() -> None:
    assert Graph.from_edges([0], [1], labels=[0, 1, 1, 0]).num_nodes == 4
    assert Graph.from_edges([0], [1], features=np.eye(5)).num_nodes == 5
    assert Graph.from_edges([0], [7]).num_nodes == 8
    assert Graph.from_edges([], []).num_nodes == 0


def test_large_integer_features_keep_their_value() -> None:
    graph = path(features=np.array([[2**30 + 1], [0], [1]]))
    assert np.asarray(graph.features)[0, 0] == 2**30 + 1
    assert np.asarray(path(features=np.eye(3, dtype=np.uint8)).features).dtype == np.float32


def test_html_is_escaped() -> None:
    assert "<script>" not in path(name="<script>")._repr_html_()
