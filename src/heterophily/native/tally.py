"""Counting the classes among the neighbours of every node, from edges in any order, out of core."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_int32, c_int64, c_uint8, c_void_p
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.native.buckets import as_signed
from heterophily.native.call import call_native, native_function
from heterophily.native.library import engine

MOST_COLUMNS = 255
_MANY_NODES = 1 << 24  # beyond: more ranges, so that the nodes of a tile stay near the cache
_BUFFERED = 4096  # keys of a tile that a thread collects before it writes them


class _Plan(ctypes.Structure):
    """``hp_tally_plan`` of tally.h."""

    _fields_ = (
        ("num_nodes", c_int64),
        ("columns", c_int64),
        ("range_bits", c_int32),
        ("is_directed", c_int32),
        ("spill", c_int32),
        ("threads", c_int32),
        ("buffer_keys", c_int64),
        ("most_keys", c_int64),
    )


class _Edges(ctypes.Structure):
    """``hp_tally_edges``."""

    _fields_ = (
        ("handle", c_int64),
        ("count", c_int64),
        ("source", c_void_p),
        ("target", c_void_p),
        ("index_bytes", c_int32),
        ("error", c_int32),
        ("num_loops", c_int64),
        ("first_bad", c_int64),
    )


class _Result(ctypes.Structure):
    """``hp_tally_result``."""

    _fields_ = (
        ("handle", c_int64),
        ("num_edges", c_int64),
        ("num_spilled", c_int64),
        ("error", c_int32),
        ("reserved", c_int32),
    )


class _Rows(ctypes.Structure):
    """``hp_tally_rows``."""

    _fields_ = (
        ("handle", c_int64),
        ("range", c_int64),
        ("start", c_int64),
        ("end", c_int64),
        ("labels", c_void_p),
        ("counts", c_void_p),
    )


def can_tally() -> bool:
    """Whether the native library is there and knows how to count edges."""
    return hasattr(engine().library, "hp_tally_open")


@dataclass(frozen=True, slots=True)
class TallyPlan:
    """Sizes of a count: nodes, columns (classes, and one for unlabelled nodes), memory, threads.

    >>> TallyPlan(1000, 5, threads=2).range_bits
    5
    """

    num_nodes: int
    columns: int
    is_directed: bool = False
    threads: int = 1
    most_keys: int = 1 << 24  # keys that a thread frees of duplicates at once
    buffer_keys: int = _BUFFERED

    @property
    def range_bits(self) -> int:
        """Low bits of a node number that choose its range."""
        return 6 if self.num_nodes > _MANY_NODES else 5

    @property
    def memory(self) -> int:
        """Bytes that a count takes, beside the keys of the tile that each thread works on."""
        ranges = 1 << self.range_bits
        tiles = ranges * ranges if self.is_directed else ranges * (ranges + 1) // 2
        span = -(-self.num_nodes // ranges)
        return ranges * span * (self.columns + 1) + 8 * self.threads * tiles * self.buffer_keys


@dataclass(frozen=True, slots=True)
class Added:
    """What a batch of edges held: loops, and the first with an end outside 0..N-1 (-1: none)."""

    num_loops: int
    first_bad: int


class Tally:
    """Counts edges that are given in batches; duplicates and loops count once and never.

    ``spill`` is a file open for reading and writing: 8 bytes for each edge go there.
    """

    def __init__(self, plan: TallyPlan, spill: int) -> None:
        if not 1 <= plan.columns <= MOST_COLUMNS:
            raise InputError(f"columns={plan.columns}; at most {MOST_COLUMNS} can be counted")
        library: Any = engine().library
        library.hp_tally_open.restype = c_int64
        library.hp_tally_close.argtypes = [c_int64]
        library.hp_tally_close.restype = None
        library.hp_tally_label.argtypes = [c_int64, c_void_p, c_int64, c_int64]
        library.hp_tally_label.restype = None
        struct = _Plan(
            num_nodes=plan.num_nodes,
            columns=plan.columns,
            range_bits=plan.range_bits,
            is_directed=plan.is_directed,
            spill=spill,
            threads=plan.threads,
            buffer_keys=plan.buffer_keys,
            most_keys=plan.most_keys,
        )
        self.plan = plan
        self._library = library
        self._handle: int = library.hp_tally_open(ctypes.byref(struct))
        if not self._handle:
            raise MemoryError

    def __enter__(self) -> Tally:
        """Return the count; its memory is freed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the memory."""
        self._library.hp_tally_close(self._handle)
        self._handle = 0

    def set_labels(self, labels: NDArray[np.uint8], first: int = 0) -> None:
        """Give the nodes ``first``, ``first + 1``, ... their labels, all below ``columns``."""
        labels = np.ascontiguousarray(labels, np.uint8)
        self._library.hp_tally_label(
            self._handle, labels.ctypes.data_as(ctypes.POINTER(c_uint8)), first, labels.size
        )

    def add(self, source: NDArray[Any], target: NDArray[Any]) -> Added:
        """Add edges; all labels are set before."""
        kind = np.int32 if source.dtype.itemsize == target.dtype.itemsize == 4 else np.int64
        ends = [as_signed(end, kind) for end in (source, target)]
        struct = _Edges(
            handle=self._handle,
            count=ends[0].size,
            source=ends[0].ctypes.data,
            target=ends[1].ctypes.data,
            index_bytes=np.dtype(kind).itemsize,
        )
        call_native(native_function("hp_tally_add", _Edges), struct, 1)
        _refuse(struct.error)
        return Added(struct.num_loops, struct.first_bad)

    def finish(self) -> int:
        """Count all edges; return how many there are without loops and duplicates."""
        struct = _Result(handle=self._handle)
        call_native(native_function("hp_tally_finish", _Result), struct, 1)
        _refuse(struct.error)
        return int(struct.num_edges)

    def ranges(self) -> list[int]:
        """Return the number of nodes of each range: those with one remainder by their count."""
        count = 1 << self.plan.range_bits
        return [max(0, -(-(self.plan.num_nodes - first) // count)) for first in range(count)]

    def rows(self, range_: int, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return labels (n,) and counts (n, columns) of some nodes of a range."""
        labels = np.empty(last - first, np.uint8)
        counts = np.empty((last - first, self.plan.columns), np.uint32)
        struct = _Rows(
            handle=self._handle,
            range=range_,
            start=first,
            end=last,
            labels=labels.ctypes.data,
            counts=counts.ctypes.data,
        )
        call_native(native_function("hp_tally_read", _Rows), struct, 1)
        return labels, counts


def _refuse(error: int) -> None:
    if error:
        raise OSError(error, os.strerror(error))
