"""Edge lists to a canonical adjacency matrix, with an account of everything that was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.errors import InputError

Direction = Literal["drop", "keep"]
SelfLoops = Literal["remove", "keep"]
DIRECTIONS = ("drop", "keep")
SELF_LOOPS = ("remove", "keep")
Weights = NDArray[np.float64] | None
_ROW_SHIFT, _COLUMN_SHIFT = np.uint64(33), np.uint64(1)
_END_MASK = np.uint64(0x7FFFFFFF)
_LAST = np.uint64(2**64 - 1)  # sorts behind every edge
_BLOCK = 1 << 15  # keys worked on at a time: fits the cache


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


def _packed(first: NDArray[Any], second: NDArray[Any], *, pairs: bool) -> NDArray[np.uint64]:
    """One sortable 64-bit key per edge: 31 bits for each end and, lowest, a bit for direction.

    With ``pairs`` the smaller end comes first and the bit marks an edge that was turned round, so
    the two directions of a pair are neighbours in the sorted order. Works in small blocks: large
    temporary arrays cost more than the arithmetic.
    """
    keys = np.empty(first.size, np.uint64)
    for start in range(0, first.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        u, v = first[block], second[block]
        low, high = (np.minimum(u, v), np.maximum(u, v)) if pairs else (u, v)
        key = low.astype(np.uint64) << _ROW_SHIFT
        key |= high.astype(np.uint64) << _COLUMN_SHIFT
        if pairs:
            key |= u > v
        keys[block] = key
    return keys


def _reverse(keys: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Write the keys of the reverse edges to ``out``."""
    for start in range(0, keys.size, _BLOCK):
        key = keys[start : start + _BLOCK]
        out[start : start + _BLOCK] = (((key >> _COLUMN_SHIFT) & _END_MASK) << _ROW_SHIFT) | (
            (key >> _ROW_SHIFT) << _COLUMN_SHIFT
        )


def _both_ways(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of edges followed by those of their reverse edges."""
    both = np.empty(2 * keys.size, np.uint64)
    both[: keys.size] = keys
    _reverse(keys, both[keys.size :])
    return both


def _is_new(keys: NDArray[np.uint64], *, pairs: bool) -> NDArray[np.bool_]:
    """Mark each sorted key that differs from the one before (with ``pairs``, in its ends)."""
    is_new = np.ones(keys.size, np.bool_)
    for start in range(1, keys.size, _BLOCK):
        here = keys[start : start + _BLOCK]
        difference = here ^ keys[start - 1 : start - 1 + here.size]
        is_new[start : start + _BLOCK] = difference > np.uint64(pairs)
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
    return np.asarray(np.add.reduceat(values, np.flatnonzero(is_new)))


def _count_mutual(keys: NDArray[np.uint64]) -> int:
    """Count the edges, among distinct ones without loops, whose reverse edge is there too."""
    both = _both_ways(keys)
    both.sort()
    return int(np.count_nonzero(both[1:] == both[:-1]))


def _csr(keys: NDArray[np.uint64], values: Weights, num_nodes: int) -> sp.csr_array:
    """Return the matrix whose sorted, distinct entries are given by packed keys."""
    index = np.int32 if keys.size < 2**31 else np.int64
    columns = np.empty(keys.size, index)
    indptr: NDArray[Any] = np.zeros(num_nodes + 1, index)
    for start in range(0, keys.size, _BLOCK):
        key = keys[start : start + _BLOCK]
        columns[start : start + _BLOCK] = (key >> _COLUMN_SHIFT) & _END_MASK
        rows = (key >> _ROW_SHIFT).astype(np.int64)
        first = int(rows[0])
        counts = np.bincount(rows - first)  # sorted keys: a block spans few rows
        indptr[first + 1 : first + 1 + counts.size] += counts.astype(index)
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
    values = _checked_weight(weight, rows)
    zero_weights = 0
    if values is not None and not values.all():
        present = values != 0
        zero_weights = int(rows - present.sum())
        first, second, values = first[present], second[present], values[present]

    is_loop = first == second
    loops, loop_values = first[is_loop], None if values is None else values[is_loop]
    keys = _packed(first, second, pairs=direction == "drop")
    keys[is_loop] = _LAST
    del first, second, source, target, is_loop
    keys, values = _sorted(keys, values)
    num_edges = keys.size - loops.size
    keys, values = keys[:num_edges], None if values is None else values[:num_edges]

    is_new = _is_new(keys, pairs=False)
    num_distinct, unequal = int(np.count_nonzero(is_new)), 0
    values = _sums(values, is_new)
    if direction == "drop":
        is_pair = _is_new(keys, pairs=True)
        if values is not None and values.size:
            first_of_pair = np.flatnonzero(is_pair[is_new])
            larger = np.maximum.reduceat(values, first_of_pair)
            unequal = int((larger != np.minimum.reduceat(values, first_of_pair)).sum())
            values = np.concatenate([larger, larger])
        keys = keys if is_pair.all() else keys[is_pair]
        keys &= ~np.uint64(1)
        one_way = 2 * keys.size - num_distinct
        keys = _both_ways(keys)
    else:
        keys = keys if num_distinct == keys.size else keys[is_new]
        one_way = num_distinct - _count_mutual(keys)
    del is_new

    loop_keys, loop_values = _sorted(_packed(loops, loops, pairs=False), loop_values)
    is_new = _is_new(loop_keys, pairs=False)
    loop_keys, loop_values = loop_keys[is_new], _sums(loop_values, is_new)
    if loop_keys.size and self_loops == "keep":
        keys = np.concatenate([keys, loop_keys])
        if values is not None and loop_values is not None:
            values = np.concatenate([values, loop_values])
    keys, values = _sorted(keys, values)
    matrix = _seal(_csr(keys, values, num_nodes), is_symmetric=direction == "drop")
    notes = EdgeNotes(
        rows=rows,
        duplicates=num_edges - num_distinct + loops.size - loop_keys.size,
        zero_weights=zero_weights,
        self_loops=int(loop_keys.size),
        self_loops_kept=self_loops == "keep",
        one_way=one_way,
        direction_kept=direction == "keep",
        unequal_weights=unequal,
    )
    return matrix, notes
