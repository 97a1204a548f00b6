from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.npz import read_pieces
from heterophily.data.readers.yandex import read_yandex
from heterophily.errors import InputError

TOY: dict[str, Any] = {
    "node_features": np.eye(3, dtype=np.float32),
    "node_labels": np.array([0, 1, 0]),
    "edges": np.array([[0, 1], [1, 2]]),
    "train_masks": np.array([[1, 0, 0]], bool),
    "val_masks": np.array([[0, 1, 0]], bool),
    "test_masks": np.array([[0, 0, 1]], bool),
}


def test_edges_are_undirected_and_listed_once(tmp_path: Path) -> None:
    np.savez(tmp_path / "toy_filtered.npz", **TOY)
    pieces = read_yandex(tmp_path / "toy_filtered.npz")
    graph = pieces.graph()
    assert (graph.name, graph.num_edges, graph.report.done) == ("toy-filtered", 2, ())
    assert pieces.split_sets["fixed"][0].sizes == (1, 1, 1)
    np.savez(tmp_path / "toy_directed.npz", **TOY)
    assert read_yandex(tmp_path / "toy_directed.npz").graph(direction="keep").num_edges == 2


@pytest.mark.parametrize("name", ["cornell-corrected", "squirrel-filtered", "chameleon-filtered"])
def test_a_real_dataset_written_in_this_format_comes_back(
    tmp_path: Path, data_folder: Path, name: str
) -> None:
    real = read_pieces(data_folder / f"{name}.npz")
    splits = real.split_sets["fixed"]
    np.savez_compressed(
        tmp_path / "x.npz",
        node_features=sp.csr_array(real.features).toarray(),
        node_labels=real.labels,
        edges=real.edge_index.T,
        train_masks=splits.train,
        val_masks=splits.validation,
        test_masks=splits.test,
    )
    again = read_yandex(tmp_path / "x.npz")
    assert again.graph().content_hash == real.graph().content_hash
    assert np.array_equal(again.split_sets["fixed"].train, splits.train)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": None}, "no field 'edges'"),
        ({"edges": np.zeros((2, 3), int)}, "shapes do not fit"),
        ({"edges": np.array([[0, 3]])}, r"edges\[0\] names a node outside 0 .. 2"),
        ({"node_labels": np.zeros(3)}, "'node_labels' is float64"),
        ({"node_features": np.full((3, 1), np.nan)}, r"node_features\[0, 0\] is not a finite"),
        ({"val_masks": TOY["train_masks"]}, "node 0 is in both"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    arrays = {key: value for key, value in {**TOY, **changes}.items() if value is not None}
    np.savez(tmp_path / "toy.npz", **arrays)
    with pytest.raises(InputError, match=words) as caught:
        read_yandex(tmp_path / "toy.npz")
    assert "toy.npz" in str(caught.value)
