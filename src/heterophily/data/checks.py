"""What a graph is made of, checked once: adjacency, features, labels and edge types."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.adjacency import is_sealed
from heterophily.data.edge_types import EdgeTypes
from heterophily.data.wide import wide_csr
from heterophily.errors import InputError

UNLABELLED = -1
_EXACT_IN_FLOAT32 = 2**24


def checked_adjacency(adjacency: Any, is_directed: bool) -> sp.csr_array:
    """Return a square CSR matrix of finite weights, symmetric unless it is directed."""
    if is_sealed(adjacency, is_symmetric=not is_directed):
        return adjacency
    is_plain = getattr(adjacency, "dtype", None) == np.bool_
    matrix = wide_csr(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the adjacency matrix has shape {matrix.shape}, expected (N, N)")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if is_plain else np.float64)
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise InputError("the adjacency matrix holds a negative or non-finite weight")
    if not is_directed and (matrix != matrix.T).nnz:
        raise InputError(
            "the adjacency matrix is not symmetric; build the graph with Graph.from_scipy(..., "
            "direction='drop'), or pass is_directed=True"
        )
    if matrix.nnz and (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def checked_features(features: Any, num_nodes: int) -> sp.csr_array | NDArray[Any] | None:
    """Return features of one finite row per node, sparse where they were sparse."""
    if features is None:
        return None
    is_sparse = sp.issparse(features)
    matrix: Any = wide_csr(features) if is_sparse else np.asarray(features)
    if matrix.ndim != 2 or matrix.shape[0] != num_nodes:
        raise InputError(f"features have shape {matrix.shape}, expected ({num_nodes}, F)")
    values = matrix.data if is_sparse else matrix
    if values.dtype.kind not in "fiub":
        raise InputError(f"features must be numbers, got {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row, column = _first_non_finite(matrix)
        raise InputError(f"features[{row}, {column}] is not a finite number")
    if values.dtype not in (np.float32, np.float64):
        exact = values.size == 0 or np.abs(values.astype(np.float64)).max() <= _EXACT_IN_FLOAT32
        is_short = values.dtype == np.float16 or (values.dtype.kind in "iub" and exact)
        matrix = matrix.astype(np.float32 if is_short else np.float64)
    if is_sparse and not (matrix.data != 0).all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def checked_types(
    types: EdgeTypes | None, adjacency: sp.csr_array, is_directed: bool
) -> EdgeTypes | None:
    """Check that the types together have the edges of the graph, no more and no fewer."""
    if types is None:
        return None
    if any(matrix.shape != adjacency.shape for matrix in types.matrices):
        raise InputError(f"types of edges need matrices of shape {adjacency.shape}")
    matrices = [frozen(checked_adjacency(m, is_directed), m) for m in types.matrices]
    together = sp.csr_array(adjacency.shape, dtype=np.float64) if not matrices else sum(matrices)
    if (
        not np.array_equal(sp.csr_array(together != 0).indptr, adjacency.indptr)
        or ((together != 0) != (adjacency != 0)).nnz
    ):
        raise InputError("the types of edges together are not the edges of the graph")
    return EdgeTypes(types.names, tuple(matrices))


def _first_non_finite(matrix: Any) -> tuple[int, int]:
    if not sp.issparse(matrix):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        return int(row), int(column)
    entry = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    return row, int(matrix.indices[entry])


def is_whole(array: NDArray[Any]) -> bool:
    """Whether an array holds whole numbers or truth values, in any type, float included."""
    if array.dtype.kind != "f":
        return array.dtype.kind in "iub"
    wide = array.astype(np.float64)
    return bool(((np.abs(wide) < 2**63) & (wide == np.floor(wide))).all())


def signed(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Return whole numbers or truth values as int64; refuse those that have no room in it.

    >>> signed(np.array([1, 2**63], np.uint64), "labels")
    Traceback (most recent call last):
    heterophily.errors.InputError: labels[1] = 9223372036854775808; the largest is \
9223372036854775807
    """
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        place = int(np.flatnonzero(array >= 2**63)[0])
        raise InputError(f"{name}[{place}] = {array[place]}; the largest is {2**63 - 1}")
    return array.astype(np.int64)


def encode_labels(
    labels: ArrayLike | None, num_nodes: int, class_names: tuple[str, ...] | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return labels as classes 0..C-1 (-1 = unlabelled) and the name of each class.

    Integer labels may be any non-negative numbers; without ``class_names`` they are numbered in
    increasing order and named by their digits.
    """
    if labels is None:
        return np.full(num_nodes, UNLABELLED, np.int64), class_names or ()
    array = np.asarray(labels)
    if array.shape != (num_nodes,):
        raise InputError(f"labels have shape {array.shape}, expected ({num_nodes},): one per node")
    if not is_whole(array):
        raise InputError(f"labels must be whole numbers (-1 = unlabelled), got {array.dtype}")
    array = signed(array, "labels")
    if num_nodes and array.min() < UNLABELLED:
        node = int(np.flatnonzero(array < UNLABELLED)[0])
        raise InputError(
            f"labels[{node}] = {array[node]}; labels are 0, 1, 2, ... and -1 for an unlabelled node"
        )
    if class_names is not None:
        if len(set(map(str, class_names))) != len(class_names):
            twice = next(name for name in class_names if list(class_names).count(name) > 1)
            raise InputError(f"class name {twice!r} occurs more than once")
        if num_nodes and array.max() >= len(class_names):
            node = int(np.flatnonzero(array >= len(class_names))[0])
            raise InputError(
                f"labels[{node}] = {array[node]} but there are {len(class_names)} class names"
            )
        return array, tuple(str(name) for name in class_names)
    present = np.unique(array[array != UNLABELLED])
    encoded = np.full(num_nodes, UNLABELLED, np.int64)
    labelled = array != UNLABELLED
    encoded[labelled] = np.searchsorted(present, array[labelled])
    return encoded, tuple(str(value) for value in present)


def as_array(values: ArrayLike | None) -> NDArray[Any] | None:
    """Return an array, or None where nothing is given."""
    return None if values is None else np.asarray(values)


def frozen(array: Any, given: Any) -> Any:
    """Return a read-only array or sparse matrix; what the caller could still write to is copied."""
    if array is None:
        return None
    if not sp.issparse(array):
        if array.flags.writeable and np.may_share_memory(array, given):
            array = array.copy()
        array.setflags(write=False)
        return array
    parts = (array.data, array.indices, array.indptr)
    if sp.issparse(given) and any(part.flags.writeable for part in parts):
        sources = [getattr(given, name, None) for name in ("data", "indices", "indptr")]
        shared = [
            isinstance(source, np.ndarray) and np.may_share_memory(part, source)
            for part, source in zip(parts, sources, strict=True)
        ]
        parts = tuple(
            p.copy() if is_shared else p for p, is_shared in zip(parts, shared, strict=True)
        )
        array = sp.csr_array(parts, shape=array.shape)
        array.has_canonical_format = True  # checked before
    for part in (array.data, array.indices, array.indptr):
        part.setflags(write=False)
    return array
