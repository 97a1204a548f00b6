"""The rows of a graph, in memory or on disk, as blocks that are read one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.native.sampler import CsrParts

AnyGraph: TypeAlias = Graph | DiskGraph
Orientation: TypeAlias = Literal["forward", "reverse"]
T = TypeVar("T")

BLOCK_ENTRIES = 1 << 22
"""Entries of a block: 16 MB of indices."""

_BLOCK_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Consecutive rows: the first node, ``indptr`` (n + 1,), and the indices that it counts."""

    first: int
    indptr: NDArray[np.int64]
    indices: NDArray[Any]

    @property
    def num_rows(self) -> int:
        """Number of rows n."""
        return int(self.indptr.size - 1)


def parts_of(graph: AnyGraph, direction: Orientation = "forward") -> CsrParts:
    """Return the rows of A, or of its transpose; files are mapped, not read.

    >>> graph = Graph.from_edges([0], [1], labels=[0, 1], direction="keep")
    >>> parts_of(graph, "reverse").indptr[0].tolist()
    [0, 0, 1]
    """
    if isinstance(graph, DiskGraph):
        found = graph.parts if direction == "forward" else graph.reverse_parts
        starts = [part.first for part in found]
        return CsrParts(
            np.array([*starts, graph.num_nodes], np.int64),
            [part.indptr for part in found],
            [part.indices for part in found],
        )
    if graph.is_weighted:
        raise InputError(
            f"{graph.name!r} has weighted edges, and training with channels or sampled "
            "neighbourhoods cannot use weights; train with --batches full"
        )
    adjacency = graph.adjacency
    if direction == "reverse" and graph.is_directed:
        adjacency = sp.csr_array(adjacency.T)
        adjacency.sort_indices()
    index = np.uint32 if graph.num_nodes < 2**32 else np.int64
    return CsrParts(
        np.array([0, graph.num_nodes], np.int64),
        [adjacency.indptr.astype(np.int64)],
        [adjacency.indices.astype(index)],
    )


def degrees_of(parts: CsrParts) -> NDArray[np.int64]:
    """Return the number of neighbours of every node, (N,)."""
    found = np.empty(int(parts.first_row[-1]), np.int64)
    for first, indptr in zip(parts.first_row, parts.indptr, strict=False):
        for at in range(0, indptr.size - 1, _BLOCK_ROWS):
            piece = read_slice(indptr, at, min(at + _BLOCK_ROWS, indptr.size - 1) + 1)
            found[first + at : first + at + piece.size - 1] = np.diff(piece)
    return found


def blocks_of(parts: CsrParts) -> Iterator[RowBlock]:
    """Iterate over all rows in blocks of about ``BLOCK_ENTRIES`` entries, read from the files.

    A block has at least one row, whose entries are at most as many as there are nodes.
    """
    for first, indptr, indices in zip(parts.first_row, parts.indptr, parts.indices, strict=False):
        for at in range(0, indptr.size - 1, _BLOCK_ROWS):
            piece = read_slice(indptr, at, min(at + _BLOCK_ROWS, indptr.size - 1) + 1)
            begin, last = 0, piece.size - 1
            while begin < last:
                wanted = piece[begin] + BLOCK_ENTRIES
                end = int(np.searchsorted(piece, wanted, side="right")) - 1
                end = min(max(end, begin + 1), last)
                yield RowBlock(
                    int(first) + at + begin,
                    piece[begin : end + 1],
                    read_slice(indices, int(piece[begin]), int(piece[end])),
                )
                begin = end


def read_slice(array: NDArray[Any], begin: int, end: int) -> NDArray[Any]:
    """Return ``array[begin:end]``; of a mapped file it is read, so that no page stays mapped."""
    source: Any = array
    if not isinstance(source, np.memmap) or source.filename is None:
        return np.ascontiguousarray(array[begin:end])
    shape = (end - begin, *source.shape[1:])
    row = source.itemsize * int(np.prod(source.shape[1:], dtype=np.int64))
    found = np.empty(shape, source.dtype)
    view = found.reshape(-1).view(np.uint8).data
    with open(source.filename, "rb", buffering=0) as stream:
        stream.seek(source.offset + begin * row)
        done = 0
        while done < len(view):
            count = stream.readinto(view[done:])
            if not count:
                raise InputError(f"{source.filename} is shorter than it was; convert it again")
            done += count
    return found


def ahead(items: Iterator[T], count: int = 1) -> Iterator[T]:
    """Iterate over items that another thread prepares ahead, at most ``count`` of them."""
    nothing: Any = object()
    step: Callable[[], Any] = lambda: next(items, nothing)  # noqa: E731
    with ThreadPoolExecutor(1) as reader:
        waiting = [reader.submit(step) for _ in range(count)]
        while (found := waiting.pop(0).result()) is not nothing:
            waiting.append(reader.submit(step))
            yield found


def usable_threads() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
