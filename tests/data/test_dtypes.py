"""Every whole-number, floating and truth type gives the same graph, or a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily import Graph, Split, from_scipy
from heterophily.data.npz import read_npz
from heterophily.errors import InputError

N = 12
_RNG = np.random.default_rng(0)
EDGES = np.array([_RNG.integers(0, N, 20), _RNG.integers(0, N, 20)])
LABELS = np.arange(N) % 2
FEATURES = _RNG.integers(0, 2, (N, 4))
MATRIX = sp.csr_array(FEATURES)
WHOLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2")
FLOATS = ("f2", "f4", "f8", ">f4", "g")
FIELDS: dict[str, dict[str, Any]] = {
    "edge_index": {"edge_index": EDGES},
    "y": {"y": LABELS},
    "x": {"x": FEATURES},
    "num_nodes": {"num_nodes": np.array(N)},
    "node_ids": {"node_ids": np.arange(N)},
    "CSR parts": {
        "x": None,
        "x_data": MATRIX.data,
        "x_indices": MATRIX.indices,
        "x_indptr": MATRIX.indptr,
        "x_shape": np.array(MATRIX.shape),
    },
}


def _read(path: Path, changes: dict[str, Any]) -> Graph:
    arrays = {"edge_index": EDGES, "y": LABELS, "x": FEATURES} | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return read_npz(path)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("field", FIELDS)
def test_whole_numbers_of_any_type_are_the_same_graph(
    tmp_path: Path, field: str, kind: str
) -> None:
    changes = {k: None if v is None else v.astype(kind) for k, v in FIELDS[field].items()}
    found = _read(tmp_path / "a.npz", changes)
    assert found.content_hash == _read(tmp_path / "b.npz", {}).content_hash


@pytest.mark.parametrize("kind", [*FLOATS, "?"])
def test_features_and_labels_of_any_type_are_the_same_graph(tmp_path: Path, kind: str) -> None:
    wanted = _read(tmp_path / "b.npz", {}).content_hash
    assert _read(tmp_path / "a.npz", {"x": FEATURES.astype(kind)}).content_hash == wanted
    assert Graph.from_edges(
        *EDGES, labels=LABELS.astype(kind), features=FEATURES.astype(kind)
    ).content_hash == wanted  # fmt: skip
    if kind == "?":
        assert _read(tmp_path / "c.npz", {"y": LABELS.astype(kind)}).content_hash == wanted


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8"])
def test_unlabelled_nodes_beside_unsigned_labels_have_no_label(tmp_path: Path, kind: str) -> None:
    changes = {"y": LABELS.astype(kind), "unlabelled": np.array([1, 2], kind)}
    assert np.flatnonzero(_read(tmp_path / "a.npz", changes).labels == -1).tolist() == [1, 2]


def test_labels_beyond_int64_are_refused_and_not_wrapped(tmp_path: Path) -> None:
    labels = LABELS.astype(np.uint64)
    labels[3] += np.uint64(2**63)
    with pytest.raises(InputError, match=r"a.npz: y\[3\] = 9223372036854775809"):
        _read(tmp_path / "a.npz", {"y": labels})
    with pytest.raises(InputError, match=r"labels\[3\] = 9223372036854775809"):
        Graph.from_edges(*EDGES, labels=labels)
    with pytest.raises(InputError, match="whole numbers"):
        Graph.from_edges(*EDGES, labels=np.full(N, 1e300))


def test_weights_that_overflow_when_merged_are_refused() -> None:
    for edges in ([[0, 0], [1, 1]], [[1, 1], [1, 1]]):
        with pytest.raises(InputError, match="add up to infinity"):
            Graph.from_edges(*edges, weight=[1e308, 1e308], num_nodes=2, self_loops="keep")


@pytest.mark.parametrize("value", [np.zeros(0, bool), np.zeros(2, bool), np.array(1)])
@pytest.mark.parametrize("field", ["has_self_loops", "is_directed"])
def test_a_truth_value_is_one_truth_value(tmp_path: Path, field: str, value: Any) -> None:
    with pytest.raises(InputError, match=field):
        _read(tmp_path / "a.npz", {field: value})


SMALL = {"i1": 100, "u1": 200, "i2": 30_000, "u2": 60_000, "i4": 2**30, "u4": 2**31, "u8": 2**40}


def _stored_twice(kind: str, layout: str) -> sp.csr_array | sp.coo_array:
    """Return entry (0, 1), stored twice, and (1, 0), each the largest round value of its type."""
    values = np.full(4, SMALL[kind]).astype(kind)
    if layout == "coo":
        return sp.coo_array((values, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    return sp.csr_array((values, [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_entries_stored_twice_add_up_and_never_wrap_around(kind: str, layout: str) -> None:
    matrix, total = _stored_twice(kind, layout), 2.0 * SMALL[kind]
    wanted = [[0.0, total], [total, 0.0]]
    assert from_scipy(matrix).adjacency.toarray().tolist() == wanted
    assert Graph(matrix).adjacency.toarray().tolist() == wanted
    features = Graph.from_edges([0], [1], features=matrix).features
    assert features.toarray().tolist() == wanted
    weight = matrix.data[:2]
    assert Graph.from_edges([0, 0], [1, 1], weight=weight).adjacency.toarray()[0, 1] == total


@pytest.mark.parametrize("kind", ["u1", "i1", "f4"])
def test_masks_of_another_type_than_truth_are_refused_and_not_read_as_node_numbers(
    kind: str,
) -> None:
    masks = [np.array(mask).astype(kind) for mask in ([1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])]
    with pytest.raises(InputError):
        Split(*masks)
    with pytest.raises(InputError):
        Split.from_parts(*masks, num_nodes=4)
