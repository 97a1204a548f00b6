"""The native pass over the edges that serves the metrics; NumPy buffers in and out, no torch."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heterophily.native.call import call_native, native_function

if TYPE_CHECKING:
    import scipy.sparse as sp

_NO_CLASS = 255  # label of an unlabelled node while labels fit into a byte
_WEIGHTS = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True, eq=False)
class EdgeTotals:
    """Sums over the edges of a labelled graph; weights take the place of ones."""

    class_pairs: NDArray[np.float64]  # (C, C): Zᵀ A Z
    class_loops: NDArray[np.float64]  # (C,): the diagonal of A, summed over the nodes of a class
    shares: NDArray[np.float64]  # (2,): sum of own-class shares of neighbours, number of nodes


@dataclass(frozen=True, eq=False)
class NeighbourSums:
    """Sums over the edges of each node."""

    neighbours: NDArray[np.float64]  # (N, C): A Z
    degrees: NDArray[np.float64]  # (N,): row sums of A


class _Edges(ctypes.Structure):
    """``hp_edges`` of native/edges.h."""

    _fields_ = (
        ("num_nodes", c_int64),
        ("num_classes", c_int64),
        ("index_bytes", c_int32),
        ("weight_bytes", c_int32),
        ("label_bytes", c_int32),
        ("reserved", c_int32),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("weights", c_void_p),
        ("labels", c_void_p),
        ("neighbours", c_void_p),
        ("degrees", c_void_p),
        ("class_pairs", c_void_p),
        ("class_loops", c_void_p),
        ("shares", c_void_p),
    )


class _ClassMeans(ctypes.Structure):
    """``hp_class_means`` of native/edges.h."""

    _fields_ = (
        ("num_nodes", c_int64),
        ("num_classes", c_int64),
        ("labels", c_void_p),
        ("rows", c_void_p),
        ("weight", c_void_p),
        ("diagonal", c_void_p),
        ("own_mean", c_void_p),
        ("other_mean", c_void_p),
        ("own", c_void_p),
        ("other", c_void_p),
    )


def edge_totals(
    adjacency: sp.csr_array, labels: NDArray[np.int64], num_classes: int, *, threads: int = 1
) -> EdgeTotals | None:
    """Return the totals of one pass over the edges; None without the native library.

    ``labels`` (N,) holds classes 0..C-1, and -1 for an unlabelled node. Counts are exact; weights
    are added in float64 in the order of the entries, and over blocks of rows that do not depend
    on ``threads``.
    """
    return _count(adjacency, labels, num_classes, None, threads)


def edge_rows(
    adjacency: sp.csr_array, labels: NDArray[np.int64], num_classes: int, *, threads: int = 1
) -> NeighbourSums | None:
    """Return the sums of each node, in the same way."""
    rows = NeighbourSums(np.empty((labels.size, num_classes)), np.empty(labels.size))
    return None if _count(adjacency, labels, num_classes, rows, threads) is None else rows


def _count(
    adjacency: sp.csr_array,
    labels: NDArray[np.int64],
    num_classes: int,
    rows: NeighbourSums | None,
    threads: int,
) -> EdgeTotals | None:
    function = native_function("hp_edge_sums", _Edges)
    if function is None:
        return None
    totals = EdgeTotals(np.empty((num_classes, num_classes)), np.empty(num_classes), np.empty(2))
    index = np.int64 if adjacency.indices.dtype == np.int64 else np.int32
    weights = adjacency.data if adjacency.dtype in _WEIGHTS else adjacency.data.astype(np.float64)
    held = {  # kept alive during the call
        "indptr": np.ascontiguousarray(adjacency.indptr, index),
        "indices": np.ascontiguousarray(adjacency.indices, index),
        "weights": np.ascontiguousarray(weights),
        "labels": labels.astype(np.uint8 if num_classes <= _NO_CLASS else np.uint32),
    }
    struct = _Edges(
        num_nodes=labels.size,
        num_classes=num_classes,
        index_bytes=held["indices"].itemsize,
        weight_bytes=held["weights"].itemsize,
        label_bytes=held["labels"].itemsize,
        **{name: array.ctypes.data for name, array in held.items()},
        **{name: array.ctypes.data for name, array in vars(totals).items()},
        **{name: array.ctypes.data for name, array in (vars(rows) if rows else {}).items()},
    )
    call_native(function, struct, threads)
    return totals


def label_means(
    rows: NDArray[np.float64],
    weight: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    labels: NDArray[np.int64],
    own_mean: NDArray[np.float64],
    other_mean: NDArray[np.float64],
    *,
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return ``weight_v rows_v · mean + diagonal_v mean_z``, (N,), for two (C, C) class means.

    The means are the rows of the node's label z; unlabelled nodes get 0. None without the native
    library.
    """
    function = native_function("hp_label_means", _ClassMeans)
    if function is None:
        return None
    own, other = np.empty(labels.size), np.empty(labels.size)
    held = {
        "labels": np.ascontiguousarray(labels, np.int64),
        "rows": np.ascontiguousarray(rows, np.float64),
        "weight": np.ascontiguousarray(weight, np.float64),
        "diagonal": np.ascontiguousarray(diagonal, np.float64),
        "own_mean": np.ascontiguousarray(own_mean, np.float64),
        "other_mean": np.ascontiguousarray(other_mean, np.float64),
    }
    struct = _ClassMeans(
        num_nodes=labels.size,
        num_classes=rows.shape[1],
        own=own.ctypes.data,
        other=other.ctypes.data,
        **{name: array.ctypes.data for name, array in held.items()},
    )
    call_native(function, struct, threads)
    return own, other
