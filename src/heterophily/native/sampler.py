"""Neighbours drawn from a CSR that may lie in several parts; NumPy buffers in and out, no torch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_int32, c_int64, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.native.panels import call, native_function

Nodes = NDArray[np.int64]


class _Parts(ctypes.Structure):
    """``hp_parts`` of native/source/sampler.h."""

    _fields_ = (
        ("num_parts", c_int64),
        ("index_bytes", c_int32),
        ("reserved", c_int32),
        ("first_row", c_void_p),
        ("indptr", c_void_p),
        ("indices", c_void_p),
    )


class _Draw(ctypes.Structure):
    """``hp_draw``."""

    _fields_ = (
        ("parts", ctypes.POINTER(_Parts)),
        ("nodes", c_void_p),
        ("num_nodes", c_int64),
        ("fanout", c_int64),
        ("seed", c_uint64),
        ("round", c_uint64),
        ("counts", c_void_p),
        ("degrees", c_void_p),
        ("neighbours", c_void_p),
    )


class _Renumber(ctypes.Structure):
    """``hp_renumber``."""

    _fields_ = (
        ("num_known", c_int64),
        ("num_others", c_int64),
        ("known", c_void_p),
        ("others", c_void_p),
        ("numbers", c_void_p),
        ("nodes", c_void_p),
    )


class _Gather(ctypes.Structure):
    """``hp_gather``."""

    _fields_ = (
        ("num_panels", c_int64),
        ("num_rows", c_int64),
        ("stride", c_int64),
        ("panels", c_void_p),
        ("width", c_void_p),
        ("column", c_void_p),
        ("rows", c_void_p),
        ("out", c_void_p),
    )


@dataclass(frozen=True, eq=False)
class CsrParts:
    """Rows of neighbours in parts: ``first_row`` (P + 1,), and of each part indptr and indices.

    ``indptr`` counts from 0 in each part (int64); ``indices`` are uint32, or int64 in all parts.
    The arrays may be memory-mapped files.
    """

    first_row: Nodes
    indptr: Sequence[Nodes]
    indices: Sequence[NDArray[Any]]

    @cached_property
    def struct(self) -> _Parts:
        """What the library reads; it lives as long as this value."""
        count = len(self.indptr)
        pointers = c_void_p * max(1, count)
        held = (
            pointers(*(array.ctypes.data for array in self.indptr)),
            pointers(*(array.ctypes.data for array in self.indices)),
        )
        found = _Parts(
            num_parts=count,
            index_bytes=self.indices[0].itemsize if count else 4,
            first_row=self.first_row.ctypes.data,
            indptr=ctypes.addressof(held[0]),
            indices=ctypes.addressof(held[1]),
        )
        object.__setattr__(self, "_held", held)
        return found


@dataclass(frozen=True, eq=False)
class Drawn:
    """Neighbours of n nodes: ``indptr`` (n + 1,), the nodes drawn, and the degrees (n,)."""

    indptr: Nodes
    neighbours: Nodes
    degrees: Nodes


def draw_neighbours(
    parts: CsrParts, nodes: Nodes, fanout: int, *, seed: int, round: int = 0, threads: int = 1
) -> Drawn:
    """Draw at most ``fanout`` neighbours of each node, without replacement.

    What a node draws follows from (seed, round, node): not from the other nodes, nor from
    ``threads``. A node with no more neighbours than that keeps them all.

    >>> ring = CsrParts(np.array([0, 3]), [np.array([0, 2, 4, 6])],
    ...                 [np.array([1, 2, 0, 2, 0, 1], np.uint32)])
    >>> drawn = draw_neighbours(ring, np.array([0, 2]), 5, seed=0)
    >>> drawn.neighbours.tolist(), drawn.degrees.tolist()
    ([1, 2, 0, 1], [2, 2])
    """
    function = _needed("hp_draw_neighbours", _Draw)
    nodes = np.ascontiguousarray(nodes, np.int64)
    counts, degrees = np.empty_like(nodes), np.empty_like(nodes)
    table = np.empty((nodes.size, fanout), np.int64)
    struct = _Draw(
        parts=ctypes.pointer(parts.struct),
        nodes=nodes.ctypes.data,
        num_nodes=nodes.size,
        fanout=fanout,
        seed=seed,
        round=round,
        counts=counts.ctypes.data,
        degrees=degrees.ctypes.data,
        neighbours=table.ctypes.data,
    )
    call(function, struct, threads)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    is_set = np.arange(fanout) < counts[:, None]
    return Drawn(indptr, table[is_set], degrees)


def all_neighbours(parts: CsrParts, nodes: Nodes) -> Drawn:
    """Return all neighbours of each node, in the order of the files.

    >>> ring = CsrParts(np.array([0, 3]), [np.array([0, 2, 4, 6])],
    ...                 [np.array([1, 2, 0, 2, 0, 1], np.uint32)])
    >>> all_neighbours(ring, np.array([2, 0])).neighbours.tolist()
    [0, 1, 1, 2]
    """
    nodes = np.ascontiguousarray(nodes, np.int64)
    part_of = np.searchsorted(parts.first_row, nodes, side="right") - 1
    begin, degrees = np.zeros_like(nodes), np.zeros_like(nodes)
    for number in np.unique(part_of):
        here = np.flatnonzero(part_of == number)
        rows = nodes[here] - parts.first_row[number]
        begin[here] = parts.indptr[number][rows]
        degrees[here] = parts.indptr[number][rows + 1] - begin[here]
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    places = np.arange(indptr[-1]) + np.repeat(begin - indptr[:-1], degrees)
    owner = np.repeat(part_of, degrees)
    found = np.empty(places.size, np.int64)
    for number in np.unique(owner):
        mine = owner == number
        found[mine] = parts.indices[number][places[mine]]
    return Drawn(indptr, found, degrees)


def renumber(known: Nodes, others: Nodes) -> tuple[Nodes, Nodes]:
    """Return all nodes, each once, the ``known`` ones first, and the place of each of ``others``.

    The known nodes are distinct; the others follow in the order of their first appearance.

    >>> renumber(np.array([7, 3]), np.array([9, 7, 9]))
    (array([7, 3, 9]), array([2, 0, 2]))
    """
    function = _needed("hp_renumber_nodes", _Renumber)
    known, others = np.ascontiguousarray(known), np.ascontiguousarray(others)
    numbers = np.empty_like(others)
    nodes = np.empty(known.size + others.size, np.int64)
    struct = _Renumber(
        num_known=known.size,
        num_others=others.size,
        known=known.ctypes.data,
        others=others.ctypes.data,
        numbers=numbers.ctypes.data,
        nodes=nodes.ctypes.data,
    )
    return nodes[: call(function, struct, 1)], numbers


def gather_rows(
    panels: Sequence[NDArray[np.float32]], rows: Nodes, *, threads: int = 1
) -> NDArray[np.float32]:
    """Return some rows of panels that lie side by side, (n, F); panels may be memory-mapped.

    >>> left, right = np.array([[1], [2]], np.float32), np.array([[3], [4]], np.float32)
    >>> gather_rows([left, right], np.array([1])).tolist()
    [[2.0, 4.0]]
    """
    function = _needed("hp_gather_panels", _Gather)
    rows = np.ascontiguousarray(rows, np.int64)
    width = np.array([panel.shape[1] for panel in panels], np.int64)
    column = np.cumsum(width) - width
    out = np.empty((rows.size, int(width.sum())), np.float32)
    addresses = (c_void_p * max(1, len(panels)))(*(panel.ctypes.data for panel in panels))
    struct = _Gather(
        num_panels=len(panels),
        num_rows=rows.size,
        stride=out.shape[1],
        panels=ctypes.addressof(addresses),
        width=width.ctypes.data,
        column=column.ctypes.data,
        rows=rows.ctypes.data,
        out=out.ctypes.data,
    )
    call(function, struct, threads)
    return out


def _needed(name: str, struct: type[ctypes.Structure]) -> Any:
    function = native_function(name, struct)
    if function is None:
        raise InputError(
            "sampled neighbourhoods need the native library, which is not built here: install a "
            "C++ compiler and install the package again, or train with --batches channels"
        )
    return function
