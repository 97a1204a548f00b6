"""Some rows of a graph on disk, read from their places: no page of a mapped file stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskPart
from heterophily.errors import InputError

Nodes = NDArray[np.int64]
Parts = tuple[DiskPart, ...]


def row_bounds(parts: Parts, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Return where the rows of some nodes begin in their parts, and how long they are."""
    begin, count = np.zeros(nodes.size, np.int64), np.zeros(nodes.size, np.int64)
    for part, inside in _inside(parts, nodes):
        with open(part.indptr_path, "rb", buffering=0) as stream:
            for place in inside.tolist():
                at = 8 * (int(nodes[place]) - part.first)
                begin[place], end = np.frombuffer(_read(stream, at, 16), "<i8")
                count[place] = end - begin[place]
    return begin, count


def row_entries(parts: Parts, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Return the number of entries of each node, and all entries in a row."""
    begin, count = row_bounds(parts, nodes)
    found = np.empty(int(count.sum()), np.int64)
    starts = np.cumsum(count) - count
    for part, inside in _inside(parts, nodes):
        item = np.dtype(part.index_dtype)
        with open(part.indices_path, "rb", buffering=0) as stream:
            for place in inside[count[inside] > 0].tolist():
                at, size = item.itemsize * int(begin[place]), item.itemsize * int(count[place])
                row = np.frombuffer(_read(stream, at, size), item)
                found[starts[place] : starts[place] + row.size] = row
    return count, found


def entries_in_pieces(
    parts: Parts, nodes: Nodes, count: Nodes, most: int
) -> Iterator[tuple[slice, Nodes]]:
    """Iterate over rows whose lengths are known: a slice of ``nodes``, and its entries.

    A piece has at most ``most`` entries, or one row.
    """
    first, ends = 0, np.cumsum(count)
    while first < nodes.size:
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + most, side="right")), first + 1)
        yield slice(first, last), row_entries(parts, nodes[first:last])[1]
        first = last


def _inside(parts: Parts, nodes: Nodes) -> Iterator[tuple[DiskPart, Nodes]]:
    for part in parts:
        inside = np.flatnonzero((nodes >= part.first) & (nodes < part.last))
        if inside.size:
            yield part, inside


def _read(stream: BinaryIO, at: int, size: int) -> bytes:
    stream.seek(at)
    found = stream.read(size)
    while len(found) < size:
        more = stream.read(size - len(found))
        if not more:
            raise InputError("a file of the graph on disk is shorter than it was; convert it again")
        found += more
    return found
