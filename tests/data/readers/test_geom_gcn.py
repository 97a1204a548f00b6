from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from heterophily.data.npz import read_pieces
from heterophily.data.readers.geom_gcn import read_geom_gcn
from heterophily.errors import InputError

EDGES = "node_id\tnode_id\n0\t1\n1\t0\n2\t2\n"
NODES = "node_id\tfeature\tlabel\n1\t0,1,0\t2\n0\t1,1,0\t0\n2\t0,0,0\t2\n"


def write(folder: Path, edges: str = EDGES, nodes: str = NODES) -> Path:
    (folder / "out1_graph_edges.txt").write_text(edges)
    (folder / "out1_node_feature_label.txt").write_text(nodes)
    return folder


def test_rows_in_any_order_are_placed_by_their_node_number(tmp_path: Path) -> None:
    pieces = read_geom_gcn(write(tmp_path), name="toy")
    assert pieces.edge_index.T.tolist() == [[0, 1], [1, 0], [2, 2]]
    assert pieces.labels is not None
    assert pieces.labels.tolist() == [0, 2, 2]
    assert pieces.features is not None
    assert pieces.features.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert pieces.split_sets == {}


def test_film_lists_the_numbers_of_its_features(tmp_path: Path) -> None:
    nodes = "node_id\tfeature\tlabel\n0\t4,1\t0\n1\t\t1\n2\t1,1\t0\n"
    features = read_geom_gcn(write(tmp_path, nodes=nodes), name="film").features
    assert features is not None
    assert features.toarray().tolist() == [[0, 1, 0, 0, 1], [0] * 5, [0, 1, 0, 0, 0]]


@pytest.mark.parametrize("name", ["texas", "film"])
def test_a_real_dataset_written_in_this_format_comes_back(
    tmp_path: Path, data_folder: Path, upstream_files: SimpleNamespace, name: str
) -> None:
    real = read_pieces(data_folder / f"{name}.npz")
    upstream_files.geom_gcn(tmp_path, real, lists_ids=name == "film")
    upstream_files.geom_gcn_splits(tmp_path, name, real.split_sets["fixed"])
    again = read_geom_gcn(tmp_path, name=name)
    assert again.graph().content_hash == real.graph().content_hash
    assert np.array_equal(again.edge_index, real.edge_index)
    assert np.array_equal(again.split_sets["fixed"].test, real.split_sets["fixed"].test)


@pytest.mark.parametrize(
    ("edges", "nodes", "words"),
    [
        ("node_id\tnode_id\n0\t3\n", NODES, r"edges.txt, line 2: node '3' is not a whole number"),
        ("node_id\tnode_id\n0,1\n", NODES, "edges.txt, line 2: 1 columns, expected 2 separated"),
        ("", NODES, "edges.txt is empty"),
        ("node_id\tnode_id\n", NODES, "a header and no row"),
        (EDGES, NODES.replace("0,1,0", "0,1"), "line 3: 3 features, expected 2"),
        (EDGES, NODES.replace("0,1,0", "0,2,0"), "line 2: feature '2'"),
        (EDGES, NODES.replace("0,1,0", "0,x,0"), "line 2: feature 'x'"),
        (EDGES, NODES.replace("\t2\n0", "\t-1\n0"), "line 2: label '-1'"),
        (EDGES, NODES.replace("\n2\t", "\n1\t"), "line 4: node 1 occurs a second time"),
        (EDGES, NODES.replace("\n2\t", "\n1000000000000\t"), "line 4: node '1000000000000'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, edges: str, nodes: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_geom_gcn(write(tmp_path, edges, nodes), name="toy")
    assert "\n" not in str(caught.value)


def test_text_in_another_encoding_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "out1_graph_edges.txt").write_bytes(b"node\xe9\tnode\n0\t1\n")
    with pytest.raises(InputError, match=r"edges.txt is not UTF-8 text \(byte 4\)"):
        read_geom_gcn(tmp_path, name="toy")


def test_a_split_of_another_graph_is_named(tmp_path: Path) -> None:
    masks = {"train_mask": np.ones(4), "val_mask": np.ones(4), "test_mask": np.ones(4)}
    np.savez(tmp_path / "toy_split_0.6_0.2_0.npz", **masks)
    with pytest.raises(InputError, match=r"_0.npz: field 'train_mask' is not a mask of 3 nodes"):
        read_geom_gcn(write(tmp_path), name="toy")
