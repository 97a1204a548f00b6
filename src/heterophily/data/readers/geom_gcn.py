"""Geom-GCN's text files: ``out1_graph_edges.txt``, ``out1_node_feature_label.txt``, split files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.npz_arrays import read_arrays
from heterophily.data.pieces import Pieces
from heterophily.data.splits import Split, SplitBatch
from heterophily.errors import InputError

EDGE_FILE, NODE_FILE = "out1_graph_edges.txt", "out1_node_feature_label.txt"
MASKS = ("train_mask", "val_mask", "test_mask")
LISTS_FEATURE_IDS = frozenset({"film"})  # the others write out every 0 and 1
MAX_FEATURES = 10**7


def read_geom_gcn(folder: Path, *, name: str) -> Pieces:
    """Read a graph of Geom-GCN from the folder of its files.

    Every line of the node file is ``node <tab> features <tab> label``. The features are a comma
    separated row of 0 and 1; film lists the numbers of the features that are set instead.
    """
    labels, features = _read_nodes(folder / NODE_FILE, lists_ids=name in LISTS_FEATURE_IDS)
    return Pieces(
        edge_index=_read_edges(folder / EDGE_FILE, labels.size),
        labels=labels,
        features=features,
        split_sets=read_geom_gcn_splits(folder, name=name, num_nodes=labels.size),
        name=name,
    )


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 text file."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not text.strip():
        raise InputError(f"{path} is empty")
    return text.rstrip().splitlines()


def _rows(path: Path, columns: int) -> list[list[str]]:
    """Return the tab separated fields of every line but the header."""
    rows = [line.split("\t") for line in read_lines(path)[1:]]
    for number, row in enumerate(rows, start=2):
        if len(row) != columns:
            raise InputError(
                f"{path}, line {number}: {len(row)} columns, expected {columns} separated by tabs"
            )
    if not rows:
        raise InputError(f"{path} has a header and no row")
    return rows


def _whole(text: str, path: Path, line: int, column: str, limit: int) -> int:
    """Return a number in ``[0, limit)``."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value < limit:
        raise InputError(
            f"{path}, line {line}: {column} {text!r} is not a whole number below {limit:,}"
        )
    return value


def _read_edges(path: Path, num_nodes: int) -> NDArray[np.int64]:
    rows = _rows(path, 2)
    edges = [
        [_whole(text, path, line, "node", num_nodes) for text in row]
        for line, row in enumerate(rows, start=2)
    ]
    return np.array(edges, np.int64).T


def _read_nodes(path: Path, *, lists_ids: bool) -> tuple[NDArray[np.int64], sp.csr_array]:
    rows = _rows(path, 3)
    num_nodes = len(rows)
    labels = np.full(num_nodes, -1, np.int64)
    entries: list[tuple[int, list[int]]] = []
    num_features = 0
    for line, (node_text, feature_text, label_text) in enumerate(rows, start=2):
        node = _whole(node_text, path, line, "node", num_nodes)
        if labels[node] >= 0:
            raise InputError(f"{path}, line {line}: node {node} occurs a second time")
        labels[node] = _whole(label_text, path, line, "label", 2**15)
        values = feature_text.split(",") if feature_text else []
        if lists_ids:
            columns = sorted({_whole(v, path, line, "feature", MAX_FEATURES) for v in values})
            num_features = max(num_features, 1 + max(columns, default=-1))
        else:
            num_features = num_features or len(values)
            if len(values) != num_features:
                raise InputError(
                    f"{path}, line {line}: {len(values)} features, expected {num_features}"
                )
            columns = [k for k, v in enumerate(values) if _whole(v, path, line, "feature", 2)]
        entries.append((node, columns))
    entries.sort()
    indptr = np.cumsum([0, *(len(columns) for _, columns in entries)])
    indices = np.concatenate([np.array(columns, np.int64) for _, columns in entries])
    data = np.ones(indices.size, np.float32)
    return labels, sp.csr_array((data, indices, indptr), shape=(num_nodes, num_features))


def read_geom_gcn_splits(folder: Path, *, name: str, num_nodes: int) -> dict[str, SplitBatch]:
    """Read ``<name>_split_0.6_0.2_<i>.npz``, i = 0, 1, ..., as the set ``"fixed"``."""
    splits: list[Split] = []
    while (path := folder / f"{name}_split_0.6_0.2_{len(splits)}.npz").is_file():
        arrays = read_arrays(path)
        masks = []
        for field in MASKS:
            if field not in arrays or arrays[field].shape != (num_nodes,):
                raise InputError(f"{path}: field {field!r} is not a mask of {num_nodes:,} nodes")
            masks.append(arrays[field].astype(np.bool_))
        try:
            splits.append(Split(*masks))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    return {"fixed": SplitBatch.stack(splits)} if splits else {}
