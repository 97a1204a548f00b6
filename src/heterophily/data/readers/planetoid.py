"""Planetoid's citation graphs: ``ind.<name>.*``, pickles of Python 2, read without executing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.pieces import Pieces
from heterophily.data.readers.geom_gcn import read_geom_gcn_splits, read_lines
from heterophily.data.readers.safe_pickle import load
from heterophily.data.splits import Split, SplitBatch
from heterophily.errors import InputError

FILES = ("allx", "tx", "ally", "ty", "y", "graph", "test.index")
VALIDATION_NODES = 500


def read_planetoid(folder: Path, *, name: str) -> Pieces:
    """Read a citation graph from the folder of its files.

    ``allx``/``ally`` are the features and one-hot labels of the first nodes, ``tx``/``ty`` those
    of the test nodes, in the order of ``test.index``. Nodes between the two that no file names
    (15 in citeseer) have no features and no label; their label number is 0. ``graph`` lists the
    neighbours of every node. The public split trains on the nodes of ``y``, validates on the next
    500 and tests on ``test.index``.
    """
    place = {part: folder / f"ind.{name}.{part}" for part in FILES}
    allx, tx = (_matrix(place[part]) for part in ("allx", "tx"))
    ally, ty, y = (_one_hot(place[part]) for part in ("ally", "ty", "y"))
    known = allx.shape[0]
    test = _test_index(place["test.index"], known)
    if (ally.shape[0], ty.shape[0], tx.shape[0]) != (known, test.size, test.size):
        raise InputError(
            f"{folder}: the files ind.{name}.* do not belong together: allx {allx.shape}, ally "
            f"{ally.shape}, tx {tx.shape}, ty {ty.shape}, test.index {test.size}"
        )
    if tx.shape[1] != allx.shape[1] or not ally.shape[1] == ty.shape[1] == y.shape[1]:
        raise InputError(f"{folder}: the files ind.{name}.* differ in their numbers of columns")
    num_nodes = max(known, int(test.max()) + 1)

    is_named = np.zeros(num_nodes, np.bool_)
    is_named[:known] = is_named[test] = True
    one_hot = np.zeros((num_nodes, ally.shape[1]), ally.dtype)
    one_hot[:known], one_hot[test] = ally, ty
    rows = sp.coo_array(tx)
    below = sp.csr_array(
        (rows.data, (test[rows.coords[0]] - known, rows.coords[1])),
        shape=(num_nodes - known, allx.shape[1]),
    )
    splits = read_geom_gcn_splits(folder, name=name, num_nodes=num_nodes)
    splits["public"] = _public_split(y.shape[0], test, num_nodes, place["y"])
    return Pieces(
        edge_index=_edges(place["graph"], num_nodes),
        labels=one_hot.argmax(axis=1),
        features=sp.csr_array(sp.vstack([allx, below], format="csr")),
        unlabelled=np.flatnonzero(~is_named | (one_hot.sum(axis=1) == 0)),
        split_sets=splits,
        name=name,
    )


def _matrix(path: Path) -> sp.csr_array:
    matrix = load(path)
    if not sp.issparse(matrix) or matrix.dtype.kind not in "fiu":
        raise InputError(f"{path} does not hold a sparse matrix of numbers")
    return matrix.astype(np.float32)


def _one_hot(path: Path) -> NDArray[Any]:
    array = load(path)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"{path} does not hold a table of labels")
    if not np.isin(array, (0, 1)).all() or (array.sum(axis=1) > 1).any():
        raise InputError(f"{path}: a row of labels is not one-hot")
    return array


def _test_index(path: Path, known: int) -> NDArray[np.int64]:
    lines = read_lines(path)
    for number, text in enumerate(lines, start=1):
        if not (text.strip().isdecimal() and known <= int(text[:18]) < known + 10**7):
            raise InputError(
                f"{path}, line {number}: {text[:40]!r} is not a test node (numbers from {known} on)"
            )
    index = np.array([int(text) for text in lines], np.int64)
    if np.unique(index).size != index.size:
        raise InputError(f"{path} names a test node twice")
    return index


def _edges(path: Path, num_nodes: int) -> NDArray[np.int64]:
    """Return every entry of the neighbour lists, in the order of the file."""
    graph = load(path)
    if not isinstance(graph, dict):
        raise InputError(f"{path} does not hold a dictionary of neighbours")
    edges = []
    for node, neighbours in graph.items():
        ends = [node, *neighbours] if isinstance(neighbours, list) else [None]
        if not all(type(end) is int and 0 <= end < num_nodes for end in ends):
            raise InputError(
                f"{path}: entry {node!r} is not a node with neighbours in 0 .. {num_nodes - 1}"
            )
        edges += [(node, end) for end in neighbours]
    return np.array(edges, np.int64).reshape(-1, 2).T


def _public_split(
    num_train: int, test: NDArray[np.int64], num_nodes: int, path: Path
) -> SplitBatch:
    nodes = np.arange(num_nodes)
    validation = nodes[num_train : num_train + VALIDATION_NODES]
    try:
        split = Split.from_parts(nodes[:num_train], validation, test, num_nodes=num_nodes)
    except InputError as error:
        raise InputError(f"{path}: the public split does not fit: {error}") from error
    return SplitBatch.stack([split])
