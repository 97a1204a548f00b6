"""Edges to sorted rows by way of buckets; NumPy twins where there is no native library."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heterophily.native.call import call_native, native_function

Ways = Literal["both", "forward", "backward"]
_WAYS: dict[str, int] = {"both": 0, "forward": 1, "backward": 2}
_MOST_BUCKET_BITS = 10


class _Scatter(ctypes.Structure):
    """``hp_scatter`` of buckets.h."""

    _fields_ = (
        ("count", c_int64),
        ("num_nodes", c_int64),
        ("index_bytes", c_int32),
        ("ways", c_int32),
        ("shift", c_int32),
        ("column_bits", c_int32),
        ("num_buckets", c_int64),
        ("source", c_void_p),
        ("target", c_void_p),
        ("keys", c_void_p),
        ("offsets", c_void_p),
        ("num_loops", c_int64),
        ("first_bad", c_int64),
    )


class _Sort(ctypes.Structure):
    """``hp_sort`` of buckets.h."""

    _fields_ = (
        ("count", c_int64),
        ("num_rows", c_int64),
        ("column_bits", c_int32),
        ("key_bits", c_int32),
        ("keys", c_void_p),
        ("scratch", c_void_p),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("num_unique", c_int64),
    )


@dataclass(frozen=True, slots=True)
class Buckets:
    """How rows are dealt to buckets: row r goes to bucket ``r >> shift``, at most 1,024 of them.

    >>> Buckets(100_000_000).count, Buckets(5).count
    (763, 5)
    """

    num_nodes: int

    @property
    def column_bits(self) -> int:
        """Bits of the largest node number."""
        return max(self.num_nodes - 1, 1).bit_length()

    @property
    def shift(self) -> int:
        """Bits of a row number within its bucket."""
        return max(0, self.column_bits - _MOST_BUCKET_BITS)

    @property
    def count(self) -> int:
        """Number of buckets."""
        return max(self.num_nodes - 1, 0) // (1 << self.shift) + 1

    def rows(self, bucket: int) -> tuple[int, int]:
        """Return the first row of a bucket and the one after its last."""
        return bucket << self.shift, min((bucket + 1) << self.shift, self.num_nodes)


@dataclass(frozen=True, eq=False)
class Scattered:
    """Keys grouped by bucket; the keys of bucket b are ``keys[offsets[b]:offsets[b + 1]]``."""

    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    num_loops: int
    first_bad: int  # the first edge with an end outside 0..N-1; -1: none


def scatter_edges(
    source: NDArray[Any],
    target: NDArray[Any],
    buckets: Buckets,
    *,
    ways: Ways,
    room: NDArray[np.uint64],
    threads: int = 1,
) -> Scattered:
    """Deal edges to buckets of rows; ``room`` receives the keys, two for each edge both ways."""
    offsets = np.zeros(buckets.count + 1, np.int64)
    function = native_function("hp_scatter_edges", _Scatter)
    if function is None:
        return _scatter_numpy(source, target, buckets, ways, room, offsets)
    kind = np.int32 if source.dtype.itemsize == target.dtype.itemsize == 4 else np.int64
    ends = [as_signed(end, kind) for end in (source, target)]
    struct = _Scatter(
        count=ends[0].size,
        num_nodes=buckets.num_nodes,
        index_bytes=np.dtype(kind).itemsize,
        ways=_WAYS[ways],
        shift=buckets.shift,
        column_bits=buckets.column_bits,
        num_buckets=buckets.count,
        source=ends[0].ctypes.data,
        target=ends[1].ctypes.data,
        keys=room.ctypes.data,
        offsets=offsets.ctypes.data,
    )
    call_native(function, struct, threads)
    return Scattered(room[: offsets[-1]], offsets, struct.num_loops, struct.first_bad)


def as_signed(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Return contiguous integers of one width; the native side reads them without a sign."""
    if values.dtype.itemsize == np.dtype(kind).itemsize:
        return np.ascontiguousarray(values).view(kind)
    return np.ascontiguousarray(values, kind)


def _scatter_numpy(
    source: NDArray[Any],
    target: NDArray[Any],
    buckets: Buckets,
    ways: Ways,
    room: NDArray[np.uint64],
    offsets: NDArray[np.int64],
) -> Scattered:
    outside = [(end < 0) | (end >= buckets.num_nodes) for end in (source, target)]
    if (bad := outside[0] | outside[1]).any():
        return Scattered(room[:0], offsets, 0, int(bad.argmax()))
    kept = source != target
    ends = [end[kept].astype(np.uint64) for end in (source, target)]
    if ways == "both":  # an edge and its reverse one after the other, as the native side has them
        rows, columns = (np.column_stack(pair).ravel() for pair in (ends, ends[::-1]))
    else:
        rows, columns = ends if ways == "forward" else ends[::-1]
    bucket = (rows >> np.uint64(buckets.shift)).astype(np.int64)
    np.cumsum(np.bincount(bucket, minlength=buckets.count), out=offsets[1:])
    inside = rows & np.uint64((1 << buckets.shift) - 1)
    keys = inside << np.uint64(buckets.column_bits) | columns
    room[: keys.size] = keys[np.argsort(bucket, kind="stable")]
    return Scattered(room[: keys.size], offsets, int(source.size - kept.sum()), -1)


def sort_rows(
    keys: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    buckets: Buckets,
    num_rows: int,
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the rows of one bucket as CSR, columns ascending, without duplicates.

    Both ``keys`` and ``scratch`` (as long) are used up.
    """
    indptr = np.empty(num_rows + 1, np.int64)
    function = native_function("hp_sort_rows", _Sort)
    if function is None:
        found = np.unique(keys)
        rows = (found >> np.uint64(buckets.column_bits)).astype(np.int64)
        indptr[0] = 0
        np.cumsum(np.bincount(rows, minlength=num_rows), out=indptr[1:])
        return indptr, (found & np.uint64((1 << buckets.column_bits) - 1)).astype(np.uint32)
    indices = np.empty(keys.size, np.uint32)
    struct = _Sort(
        count=keys.size,
        num_rows=num_rows,
        column_bits=buckets.column_bits,
        key_bits=buckets.column_bits + buckets.shift,
        keys=keys.ctypes.data,
        scratch=scratch.ctypes.data,
        indptr=indptr.ctypes.data,
        indices=indices.ctypes.data,
    )
    call_native(function, struct, 1)
    return indptr, indices[: struct.num_unique]
