"""Passes over CSR rows as they lie on disk; NumPy twins where there is no native library."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.native.call import call_native, native_function

NO_CLASS = 255  # label of an unlabelled node while labels fit into a byte


class _RowCounts(ctypes.Structure):
    """``hp_row_counts`` of rows.h."""

    _fields_ = (
        ("num_rows", c_int64),
        ("num_classes", c_int64),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("labels", c_void_p),
        ("label_bytes", c_int32),
        ("reserved", c_int32),
        ("counts", c_void_p),
    )


def compact_labels(labels: NDArray[Any], num_classes: int) -> NDArray[Any]:
    """Return labels as small as they can be: one byte each up to 255 classes; -1 is the largest."""
    return labels.astype(np.uint8 if num_classes <= NO_CLASS else np.uint32)


def count_row_labels(
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    labels: NDArray[Any],
    num_classes: int,
    *,
    threads: int = 1,
) -> NDArray[np.uint32]:
    """Return how many columns of each row have each label, (rows, C).

    ``labels`` are those of :func:`compact_labels`. The first entry of ``indptr`` may be any
    number: it is that of ``indices[0]``.
    """
    counts = np.empty((indptr.size - 1, num_classes), np.uint32)
    function = native_function("hp_count_row_labels", _RowCounts)
    if function is None or indices.dtype != np.uint32:
        rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        found = labels[indices].astype(np.int64)
        known = found < num_classes
        cells = rows[known] * num_classes + found[known]
        return np.bincount(cells, minlength=counts.size).reshape(counts.shape).astype(np.uint32)
    indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
    struct = _RowCounts(
        num_rows=indptr.size - 1,
        num_classes=num_classes,
        indptr=indptr.ctypes.data,
        indices=indices.ctypes.data,
        labels=labels.ctypes.data,
        label_bytes=labels.itemsize,
        counts=counts.ctypes.data,
    )
    call_native(function, struct, threads)
    return counts
