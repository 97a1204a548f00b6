from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heterophily.data.graph import Graph, same_content
from heterophily.data.npz import read_npz, read_pieces, write_npz, write_pieces
from heterophily.data.pieces import Pieces
from heterophily.data.splits import Split, SplitBatch
from heterophily.errors import InputError

BASE: dict[str, Any] = {
    "edge_index": np.array([[0, 1, 1, 2, 3], [1, 0, 2, 2, 0]], np.int32),
    "x_data": np.ones(3, np.uint8),
    "x_indices": np.array([0, 1, 1], np.int32),
    "x_indptr": np.array([0, 1, 2, 2, 3]),
    "x_shape": np.array([4, 2]),
    "y": np.array([0, 1, 1, 0], np.int16),
}


def packed(*masks: list[int]) -> Any:
    return np.packbits(np.array(masks, bool), axis=1)


SPLITS = {
    "split_train": packed([1, 0, 0, 0]),
    "split_val": packed([0, 1, 0, 0]),
    "split_test": packed([0, 0, 1, 1]),
    "split_count": np.array(1),
}


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_the_layout_of_the_data_folder_is_read(tmp_path: Path) -> None:
    graph = read_npz(saved(tmp_path / "toy.npz", **BASE, **SPLITS))
    assert graph.name == "toy"
    assert graph.adjacency.toarray().tolist() == [
        [0, 1, 0, 1],
        [1, 0, 1, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
    ]
    assert graph.features is not None
    assert graph.features.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [0, 1]]
    assert graph.labels.tolist() == [0, 1, 1, 0]
    assert graph.splits is not None
    assert graph.splits[0].sizes == (1, 1, 2)
    assert (graph.notes.self_loops, graph.notes.one_way) == (1, 2)


def test_direction_and_loops_are_kept_on_request(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.npz", **BASE)
    graph = read_npz(path, direction="keep", self_loops="keep", name="other")
    assert (graph.name, graph.is_directed, graph.num_edges) == ("other", True, 5)


def test_unlabelled_nodes_leave_the_splits_and_the_report_says_so(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.npz", **BASE, **SPLITS, unlabelled=np.array([3]))
    graph = read_npz(path)
    assert graph.labels.tolist() == [0, 1, 1, -1]
    assert graph.splits is not None
    assert graph.splits[0].sizes == (1, 1, 1)
    assert "1 unlabelled node taken out of the fixed splits" in graph.remarks[0]
    filled = read_npz(path, fill_unlabelled=1)
    assert filled.labels.tolist() == [0, 1, 1, 1]
    assert filled.splits is not None
    assert filled.splits[0].sizes == (1, 1, 2)
    assert filled.remarks == ("1 node without a label given class 1",)
    with pytest.raises(InputError, match=r"toy.npz: fill_unlabelled=7 is not a class .* 0, 1"):
        read_npz(path, fill_unlabelled=7)


def test_public_splits_are_reachable(tmp_path: Path) -> None:
    public = {key.replace("split", "public"): SPLITS[key] for key in SPLITS if "count" not in key}
    pieces = read_pieces(saved(tmp_path / "toy.npz", **BASE, **SPLITS, **public))
    sets, _ = pieces.usable_split_sets(None)
    assert sets.keys() == {"fixed", "public"}
    assert sets["public"][0].sizes == (1, 1, 2)


def test_fields_without_a_meaning_are_reported(tmp_path: Path) -> None:
    graph = read_npz(saved(tmp_path / "toy.npz", **BASE, colour=np.zeros(2)))
    assert graph.remarks == ("fields of the file that were not used: colour",)


def test_files_of_heterophilous_graphs_are_read(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "toy.npz",
        node_features=np.eye(3),
        node_labels=np.array([0, 1, 0]),
        edges=np.array([[0, 1], [1, 2]]),
    )
    assert repr(read_npz(path)) == "Graph('toy', nodes=3, edges=2, features=3, classes=2)"


def test_an_undirected_graph_stores_each_pair_once(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 2], labels=[0, 1, 0], self_loops="keep")
    write_npz(graph, tmp_path / "a.npz")
    assert np.load(tmp_path / "a.npz")["edge_index"].T.tolist() == [[0, 1], [1, 2], [2, 2]]
    again = read_npz(tmp_path / "a.npz")
    assert same_content(graph, again)
    assert again.notes.one_way == 0


def test_edges_listed_once_go_both_ways_when_direction_is_kept(tmp_path: Path) -> None:
    write_npz(Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0]), tmp_path / "a.npz")
    graph = read_npz(tmp_path / "a.npz", direction="keep")
    assert graph.is_directed
    assert (graph.adjacency != graph.adjacency.T).nnz == 0


def test_equal_graphs_give_equal_files(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 1])
    write_npz(graph, tmp_path / "a.npz")
    write_npz(graph, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_pieces_come_back_with_nothing_dropped(tmp_path: Path) -> None:
    first = read_pieces(saved(tmp_path / "a.npz", **BASE, **SPLITS, unlabelled=np.array([3])))
    write_pieces(first, tmp_path / "b.npz")
    second = read_pieces(tmp_path / "b.npz")
    assert second.edge_index.tolist() == BASE["edge_index"].tolist()
    assert second.labels is not None
    assert second.labels.tolist() == BASE["y"].tolist()
    assert second.unlabelled.tolist() == [3]
    assert second.split_sets["fixed"][0].sizes == (1, 1, 2)


def test_a_graph_without_labels_and_features_needs_its_number_of_nodes(tmp_path: Path) -> None:
    pieces = Pieces(edge_index=np.array([[0], [1]]), num_nodes=5)
    write_pieces(pieces, tmp_path / "a.npz")
    assert read_npz(tmp_path / "a.npz").num_nodes == 5
    with pytest.raises(InputError, match="number of nodes is unknown"):
        read_npz(saved(tmp_path / "b.npz", edge_index=np.array([[0], [1]])))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: Any) -> None:
    graph = Graph.from_edges([0], [1], labels=[0, 1])
    write_npz(graph, tmp_path / "a.npz")
    before = (tmp_path / "a.npz").read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    with pytest.raises(InputError, match="No space left"):
        write_npz(graph, tmp_path / "a.npz")
    assert (tmp_path / "a.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edge_index": None}, "no field 'edge_index'"),
        ({"edge_index": np.zeros((3, 2), int)}, r"'edge_index' has shape \(3, 2\)"),
        ({"edge_index": np.zeros((2, 2))}, "'edge_index' holds float64, expected integers"),
        ({"edge_index": np.array([[0, 0], [1, 4]])}, r"edge_index\[1, 1\] = 4; the graph has 4"),
        ({"edge_index": np.array([[0, -1], [1, 2]])}, r"edge_index\[0, 1\] = -1"),
        ({"edge_index": np.array([[0], [10**18]])}, r"edge_index\[1, 0\] = 10{18}"),
        ({"y": np.array([0, 1, 1])}, "disagree on the number of nodes: 'y' 3, 'x_shape' 4"),
        ({"y": np.array([0, 1, -2, 0])}, r"labels\[2\] = -2"),
        ({"y": np.array([0.5, 1, 1, 0])}, "y must hold whole numbers"),
        ({"x_shape": None}, "no field 'x_shape'"),
        ({"x_indices": np.array([0, 1, 2])}, r"x_indices\[2\] = 2; 'x_shape' says 2 columns"),
        ({"x_indices": np.array([0, 1])}, r"'x_indices' has shape \(2,\), expected \(3\)"),
        ({"x_indptr": np.array([0, 2, 1, 2, 3])}, "'x_indptr' must rise from 0 to 3"),
        ({"x_indptr": np.array([0, 1, 2, 2, 9])}, "'x_indptr' must rise from 0 to 3"),
        ({"x_data": np.array([1, np.nan, 1])}, r"x_data\[1\] is not a finite number"),
        ({"x": np.ones((4, 2))}, "dense features 'x' and also CSR features"),
        ({"unlabelled": np.array([4])}, r"unlabelled\[0\] = 4"),
        ({"edge_weight": np.ones(4)}, r"'edge_weight' has shape \(4,\), expected \(5\)"),
        ({"edge_weight": -np.ones(5)}, r"weight\[0\] = -1"),
        ({"class_names": np.array(["a"])}, "there are 1 class names"),
        ({"node_ids": np.array(["a", "a", "b", "c"])}, "node id a occurs more than once"),
        ({"is_directed": np.array([True, False])}, "'is_directed' has shape"),
        ({**SPLITS, "split_count": np.array(2)}, "'split_train' has shape"),
        ({**SPLITS, "split_val": packed([1, 0, 0, 0])}, "node 0 is in both the train and"),
        ({"split_train": SPLITS["split_train"]}, "no field 'split_val'"),
    ],
)
def test_a_wrong_field_is_named_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    arrays = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    with pytest.raises(InputError, match=words) as caught:
        read_npz(saved(tmp_path / "toy.npz", **arrays))
    assert "toy.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_split_that_only_unlabelled_nodes_fill_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.npz", **BASE, **SPLITS, unlabelled=np.array([1]))
    with pytest.raises(InputError, match=r"toy.npz: the validation set of split 0 is empty"):
        read_npz(path)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(3, 8))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=20))
    weight = draw(st.sampled_from([None, [1.0 + index / 4 for index in range(len(edges))]]))
    kind = draw(st.sampled_from(["none", "dense", "sparse"]))
    values = draw(st.lists(st.floats(-9, 9, width=32), min_size=size * 2, max_size=size * 2))
    dense = np.array(values).reshape(size, 2)
    parts: dict[str, Any] = {}
    if draw(st.booleans()):
        parts["node_ids"] = np.array([f"n{index}é" for index in range(size)])
    if draw(st.booleans()):
        parts["class_names"] = ("red", "grün", "never")
    if draw(st.booleans()):
        split = Split.from_parts([0], [1], [2], num_nodes=size)
        parts["splits"] = SplitBatch.stack([split, split])
    labels = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    return Graph.from_edges(
        np.array([u for u, _ in edges], np.int64),
        np.array([v for _, v in edges], np.int64),
        num_nodes=size,
        weight=weight,
        direction=draw(st.sampled_from(["drop", "keep"])),
        self_loops=draw(st.sampled_from(["remove", "keep"])),
        features={"none": None, "dense": dense, "sparse": sp.csr_array(dense)}[kind],
        labels=labels,
        name=draw(st.sampled_from(["a", "b c"])),
        **parts,
    )


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs())
def test_what_was_written_comes_back(tmp_path: Path, graph: Graph) -> None:
    write_npz(graph, tmp_path / "a.npz")
    again = read_npz(tmp_path / "a.npz")
    assert same_content(graph, again)
    assert (again.name, again.is_directed) == (graph.name, graph.is_directed)
    assert sp.issparse(again.features) == sp.issparse(graph.features)
