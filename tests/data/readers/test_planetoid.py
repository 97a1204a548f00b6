from __future__ import annotations

import collections
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.npz import read_pieces
from heterophily.data.readers import planetoid
from heterophily.data.readers.planetoid import read_planetoid
from heterophily.errors import InputError


def parts(**changes: Any) -> dict[str, Any]:
    """Nodes 0-3 known, 4-7 behind them; 5 is named by no file."""
    return {
        "allx": sp.csr_matrix(np.eye(4, 3, dtype=np.float32)),
        "tx": sp.csr_matrix(np.array([[0, 0, 7], [0, 8, 0], [9, 0, 0]], np.float32)),
        "ally": np.array([[1, 0], [0, 1], [1, 0], [0, 1]]),
        "ty": np.array([[0, 1], [1, 0], [0, 1]]),
        "y": np.array([[1, 0], [0, 1]]),
        "graph": collections.defaultdict(list, {0: [1, 7, 1], 1: [0], 4: [4], 7: [0], 5: [6]}),
        "test_index": [7, 4, 6],
    } | changes


@pytest.fixture(autouse=True)
def _two_validation_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planetoid, "VALIDATION_NODES", 2)


def test_test_rows_are_placed_by_the_index_and_gaps_are_unlabelled(
    tmp_path: Path, upstream_files: SimpleNamespace
) -> None:
    upstream_files.planetoid(tmp_path, "toy", **parts())
    pieces = read_planetoid(tmp_path, name="toy")
    assert pieces.features is not None
    assert pieces.labels is not None
    assert pieces.features.toarray()[4:].tolist() == [[0, 8, 0], [0, 0, 0], [9, 0, 0], [0, 0, 7]]
    assert pieces.labels.tolist() == [0, 1, 0, 1, 0, 0, 1, 1]
    assert pieces.unlabelled.tolist() == [5]
    assert pieces.edge_index.T.tolist() == [
        [0, 1], [0, 7], [0, 1], [1, 0], [4, 4], [7, 0], [5, 6],
    ]  # fmt: skip
    public = pieces.split_sets["public"][0]
    assert np.flatnonzero(public.train).tolist() == [0, 1]
    assert np.flatnonzero(public.validation).tolist() == [2, 3]
    assert np.flatnonzero(public.test).tolist() == [4, 6, 7]
    assert pieces.graph().labels.tolist() == [0, 1, 0, 1, 0, -1, 1, 1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tx": sp.csr_matrix(np.eye(2, 3))}, "do not belong together"),
        ({"tx": sp.csr_matrix(np.eye(3, 4))}, "differ in their numbers of columns"),
        ({"tx": np.eye(3)}, r"ind.toy.tx does not hold a sparse matrix"),
        ({"ally": np.ones((4, 2))}, r"ind.toy.ally: a row of labels is not one-hot"),
        ({"ally": [1]}, r"ind.toy.ally does not hold a table"),
        ({"graph": {0: [99]}}, r"ind.toy.graph: entry 0 is not a node"),
        ({"graph": {0: 1}}, r"ind.toy.graph: entry 0 is not a node"),
        ({"graph": [1]}, r"ind.toy.graph does not hold a dictionary"),
        ({"test_index": [7, 3, 6]}, r"test.index, line 2: '3' is not a test node"),
        ({"test_index": [7, "x", 6]}, r"test.index, line 2: 'x' is not a test node"),
        ({"test_index": [7, 10**18, 6]}, r"test.index, line 2: '10{18}' is not a test node"),
        ({"test_index": [7, 7, 6]}, "names a test node twice"),
        ({"y": np.eye(7, 2)}, "the public split does not fit"),
    ],
)
def test_a_wrong_part_is_named(
    tmp_path: Path, upstream_files: SimpleNamespace, changes: dict[str, Any], words: str
) -> None:
    upstream_files.planetoid(tmp_path, "toy", **parts(**changes))
    with pytest.raises(InputError, match=words) as caught:
        read_planetoid(tmp_path, name="toy")
    assert "\n" not in str(caught.value)


def test_a_missing_part_is_named(tmp_path: Path, upstream_files: SimpleNamespace) -> None:
    upstream_files.planetoid(tmp_path, "toy", **parts())
    (tmp_path / "ind.toy.ty").unlink()
    with pytest.raises(InputError, match=r"cannot read .*ind.toy.ty: No such file"):
        read_planetoid(tmp_path, name="toy")


@pytest.mark.parametrize("name", ["pubmed", "citeseer"])
def test_the_real_files_give_the_dataset(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = Path(os.environ.get("HETEROPHILY_PLANETOID", "")) / name
    if not (folder / f"ind.{name}.graph").is_file():
        pytest.skip("set HETEROPHILY_PLANETOID to a folder with pubmed/ind.pubmed.* and the like")
    monkeypatch.setattr(planetoid, "VALIDATION_NODES", 500)
    pieces, stored = read_planetoid(folder, name=name), read_pieces(data_folder / f"{name}.npz")
    assert pieces.graph().content_hash == stored.graph().content_hash
    assert np.array_equal(pieces.edge_index, stored.edge_index)
    assert np.array_equal(pieces.unlabelled, stored.unlabelled)
    assert np.array_equal(pieces.split_sets["public"].test, stored.split_sets["public"].test)
