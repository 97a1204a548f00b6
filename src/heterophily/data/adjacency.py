"""Edge lists to a canonical adjacency matrix, with an account of everything that was changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.memory import need
from heterophily.errors import InputError

Direction = Literal["drop", "keep"]
SelfLoops = Literal["remove", "keep"]
DIRECTIONS = ("drop", "keep")
SELF_LOOPS = ("remove", "keep")
Weights = NDArray[np.float64] | None
_ROW_SHIFT, _COLUMN_SHIFT = np.uint64(33), np.uint64(1)
_END_MASK = np.uint64(0x7FFFFFFF)
_REVERSED = np.uint64(1)
_LOOP = np.uint64((1 << 33) + (1 << 1))  # times a node: the key of its loop
_NODE_BYTES, _EDGE_BYTES = 24, 40  # what building takes at its peak, about
_BLOCK = 1 << 15  # keys worked on at a time: fits the cache
_WORTH_A_THREAD = 1 << 20  # keys below which a thread costs more than it saves
_MOST_THREADS = 4  # more only wait for memory


@dataclass(frozen=True, slots=True)
class EdgeNotes:
    """What an edge list held and what was done to it. Counts are rows of the list unless named."""

    rows: int = 0
    duplicates: int = 0  # rows that repeat an earlier row, in the same direction: merged
    zero_weights: int = 0  # rows of weight 0: no edge
    self_loops: int = 0  # distinct nodes with an edge to themselves
    self_loops_kept: bool = False
    one_way: int = 0  # node pairs linked in one direction only
    direction_kept: bool = False
    unequal_weights: int = 0  # pairs whose two directions differ in weight: the larger is used


def _checked(values: ArrayLike, name: str, num_nodes: int) -> NDArray[Any]:
    """Return the node numbers as integers in ``[0, num_nodes)``; name the first that is not."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold integer node numbers, got {array.dtype}")
    low, high = array.min(), array.max()
    if low < 0 or high >= num_nodes:
        edge = int(np.flatnonzero((array < 0) | (array >= num_nodes))[0])
        raise InputError(
            f"{name}[{edge}] = {array[edge]} is not a node number; "
            f"the graph has {num_nodes} nodes, numbered from 0"
        )
    return array


def _checked_weight(weight: ArrayLike | None, rows: int) -> Weights:
    if weight is None:
        return None
    values = np.asarray(weight, dtype=np.float64)
    if values.shape != (rows,):
        raise InputError(f"weight has shape {values.shape}, expected ({rows},): one per edge")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(
            f"weight[{bad[0]}] = {values[bad[0]]}; edge weights must be finite and not negative"
        )
    return values


def _in_threads(work: Callable[[int, int], None], cuts: Sequence[int]) -> None:
    """Call ``work(begin, end)`` for each stretch between cuts, a thread each (NumPy lets them)."""
    if len(cuts) == 2:
        work(*cuts)
        return
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))


def _cuts(size: int) -> list[int]:
    """Cut so many keys into as many stretches as are worth a thread."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = max(1, min(usable or 1, _MOST_THREADS, size // _WORTH_A_THREAD))
    return [part * size // count for part in range(count + 1)]


def _packed(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a sortable 64-bit key for each edge and, behind them, for each reversed edge.

    A key has 31 bits for the row, 31 for the column and, lowest, one that is set if the edge was
    reversed: sorted, an edge and the reverse of its reverse edge are neighbours. Works in small
    blocks: large temporary arrays cost more than the arithmetic.
    """
    keys = np.empty(2 * first.size, np.uint64)

    def pack(begin: int, end: int) -> None:
        for start in range(begin, end, _BLOCK):
            block = slice(start, min(start + _BLOCK, end))
            u, v = first[block].astype(np.uint64), second[block].astype(np.uint64)
            keys[block] = u << _ROW_SHIFT | v << _COLUMN_SHIFT
            back = slice(block.start + first.size, block.stop + first.size)
            keys[back] = v << _ROW_SHIFT | u << _COLUMN_SHIFT | _REVERSED

    _in_threads(pack, _cuts(first.size))
    return keys


def _is_new(keys: NDArray[np.uint64], *, is_pair: bool) -> NDArray[np.bool_]:
    """Mark each sorted key that differs from the one before (with ``is_pair``, in its ends)."""
    is_new = np.ones(keys.size, np.bool_)

    def mark(begin: int, end: int) -> None:
        for start in range(max(begin, 1), end, _BLOCK):
            here = keys[start : min(start + _BLOCK, end)]
            difference = here ^ keys[start - 1 : start - 1 + here.size]
            is_new[start : start + here.size] = difference > np.uint64(is_pair)

    _in_threads(mark, _cuts(keys.size))
    return is_new


def _sorted(keys: NDArray[np.uint64], values: Weights) -> tuple[NDArray[np.uint64], Weights]:
    """Sort keys, and values with them; equal keys stay in order, so sums do not depend on luck."""
    if values is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def _sums(values: Weights, is_new: NDArray[np.bool_]) -> Weights:
    if values is None or not values.size:
        return values
    with np.errstate(over="ignore"):
        found = np.asarray(np.add.reduceat(values, np.flatnonzero(is_new)))
    if not np.isfinite(found).all():
        raise InputError(
            "the weights of a repeated edge add up to infinity; divide all weights by a number"
        )
    return found


def _row_cuts(keys: NDArray[np.uint64]) -> list[int]:
    """Cut sorted keys between rows, so that no two threads count the same row."""
    cuts = _cuts(keys.size)
    rows = keys[cuts[1:-1]] >> _ROW_SHIFT
    return [0, *(int(cut) for cut in np.searchsorted(keys, rows << _ROW_SHIFT)), keys.size]


def _csr(keys: NDArray[np.uint64], values: Weights, num_nodes: int) -> sp.csr_array:
    """Return the matrix whose sorted, distinct entries are given by packed keys."""
    index = np.int32 if keys.size < 2**31 else np.int64
    columns = np.empty(keys.size, index)
    indptr: NDArray[Any] = np.zeros(num_nodes + 1, index)

    def fill(begin: int, end: int) -> None:
        for start in range(begin, end, _BLOCK):
            block = slice(start, min(start + _BLOCK, end))
            key = keys[block]
            columns[block] = (key >> _COLUMN_SHIFT) & _END_MASK
            rows = (key >> _ROW_SHIFT).astype(np.int64)
            first = int(rows[0])
            counts = np.bincount(rows - first)  # sorted keys: a block spans few rows
            indptr[first + 1 : first + 1 + counts.size] += counts.astype(index)

    _in_threads(fill, _row_cuts(keys))
    np.cumsum(indptr, out=indptr)
    data = np.ones(keys.size, np.float32) if values is None else values
    return sp.csr_array((data, columns, indptr), shape=(num_nodes, num_nodes))


def _seal(matrix: sp.csr_array, is_symmetric: bool) -> sp.csr_array:
    """Freeze a canonical matrix and note on it what is known, so nobody has to check again."""
    matrix.has_canonical_format = True
    parts = (matrix.data, matrix.indices, matrix.indptr)
    for part in parts:
        part.setflags(write=False)
    matrix._sealed = (parts, is_symmetric)
    return matrix


def is_sealed(matrix: Any, *, is_symmetric: bool) -> bool:
    """Whether ``adjacency_from_edges`` made this very matrix (and made it symmetric)."""
    parts, symmetric = getattr(matrix, "_sealed", ((), False))
    if not parts or (is_symmetric and not symmetric):
        return False
    now = (matrix.data, matrix.indices, matrix.indptr)
    return all(a is b and not a.flags.writeable for a, b in zip(parts, now, strict=True))


def adjacency_from_edges(
    source: ArrayLike,
    target: ArrayLike,
    *,
    num_nodes: int,
    weight: ArrayLike | None = None,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
) -> tuple[sp.csr_array, EdgeNotes]:
    """Return the canonical CSR adjacency of an edge list, and what was done to get it.

    Repeated edges are merged (weights add up). With ``direction="drop"`` the matrix is
    symmetric: a pair linked in either direction is linked in both, and where the two directions
    carry different weights the larger one holds. Without weights every entry is 1. The arrays of
    the matrix are read-only.

    >>> matrix, notes = adjacency_from_edges([0, 1, 1, 2], [1, 0, 2, 2], num_nodes=3)
    >>> matrix.toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> notes.one_way, notes.self_loops, notes.duplicates
    (1, 1, 0)
    """
    if direction not in DIRECTIONS:
        raise InputError(f"direction={direction!r}; choose 'drop' or 'keep'")
    if self_loops not in SELF_LOOPS:
        raise InputError(f"self_loops={self_loops!r}; choose 'remove' or 'keep'")
    if not 0 <= num_nodes < 2**31:
        raise InputError(f"num_nodes={num_nodes} is outside 0 .. 2^31 - 1")
    first, second = _checked(source, "source", num_nodes), _checked(target, "target", num_nodes)
    if first.size != second.size:
        raise InputError(f"source has {first.size} entries but target has {second.size}")
    rows = first.size
    need(
        num_nodes * _NODE_BYTES + rows * (_EDGE_BYTES + (0 if weight is None else 16)),
        f"a graph of {num_nodes:,} nodes and {rows:,} edges",
    )
    values = _checked_weight(weight, rows)
    zero_weights = 0
    if values is not None and not values.all():
        present = values != 0
        zero_weights = int(rows - present.sum())
        first, second, values = first[present], second[present], values[present]

    is_loop = first == second
    loops, loop_values = first[is_loop], None if values is None else values[is_loop]
    if loops.size:
        first, second = first[~is_loop], second[~is_loop]
        values = None if values is None else values[~is_loop]
    num_edges = first.size
    keys = _packed(first, second)
    del first, second, source, target, is_loop
    keys, values = _sorted(keys, None if values is None else np.concatenate([values, values]))

    is_new = _is_new(keys, is_pair=False)
    values = _sums(values, is_new)
    keys = keys if is_new.all() else keys[is_new]
    is_new = _is_new(keys, is_pair=True)
    num_distinct = keys.size // 2
    one_way = int(np.count_nonzero(is_new)) - num_distinct
    unequal = 0
    if direction == "drop":
        if values is not None and values.size:
            starts = np.flatnonzero(is_new)
            smaller, values = (f.reduceat(values, starts) for f in (np.minimum, np.maximum))
            unequal = int((values != smaller).sum()) // 2
        keys = keys if is_new.all() else keys[is_new]
    else:
        is_given = keys & _REVERSED == 0
        keys, values = keys[is_given], None if values is None else values[is_given]
    del is_new

    loop_nodes, occurrence = np.unique(loops, return_inverse=True)
    if loop_nodes.size and self_loops == "keep":
        keys = np.concatenate([keys, loop_nodes.astype(np.uint64) * _LOOP])
        if values is not None:
            merged = np.bincount(occurrence, weights=loop_values)
            if not np.isfinite(merged).all():
                raise InputError("the weights of a repeated self loop add up to infinity")
            values = np.concatenate([values, merged])
        keys, values = _sorted(keys, values)
    matrix = _seal(_csr(keys, values, num_nodes), is_symmetric=direction == "drop")
    notes = EdgeNotes(
        rows=rows,
        duplicates=num_edges - num_distinct + loops.size - loop_nodes.size,
        zero_weights=zero_weights,
        self_loops=int(loop_nodes.size),
        self_loops_kept=self_loops == "keep",
        one_way=one_way,
        direction_kept=direction == "keep",
        unequal_weights=unequal,
    )
    return matrix, notes
