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


def _checked(values: ArrayLike, name: str, num_nodes: int) -> NDArray[np.int64]:
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


def _checked_weight(weight: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
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


def _packed(
    first: NDArray[np.int64], second: NDArray[np.int64], undirected: bool
) -> NDArray[np.uint64]:
    """One sortable 64-bit key per edge: 31 bits of each end, and a direction bit when undirected.

    With the bit, the two directions of one pair are neighbours in the sorted order.
    """
    u, v = first.astype(np.uint64), second.astype(np.uint64)
    if undirected:
        is_reversed = u > v
        low, high = np.minimum(u, v), np.maximum(u, v)
        low <<= np.uint64(33)
        high <<= np.uint64(1)
        low |= high
        low |= is_reversed
        return low
    u <<= np.uint64(33)
    v <<= np.uint64(1)
    u |= v
    return u


def _starts(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Mark the first of each run of equal keys."""
    starts = np.ones(keys.size, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    return starts


def _csr(
    keys: NDArray[np.uint64], data: NDArray[Any], num_nodes: int
) -> sp.csr_array:
    """Return the matrix whose sorted, distinct entries are given by packed keys."""
    rows = (keys >> np.uint64(33)).astype(np.int32)
    columns = ((keys >> np.uint64(1)) & np.uint64(0x7FFFFFFF)).astype(np.int32)
    index = np.int32 if keys.size < 2**30 else np.int64
    indptr = np.zeros(num_nodes + 1, index)
    np.cumsum(np.bincount(rows, minlength=num_nodes), out=indptr[1:])
    matrix = sp.csr_array((data, columns.astype(index, copy=False), indptr), (num_nodes, num_nodes))
    matrix.has_canonical_format = True
    return matrix


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
    carry different weights the larger one holds. Without weights every entry is 1.

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
    weights = _checked_weight(weight, rows)
    zero_weights = 0
    if weights is not None and not weights.all():
        present = weights != 0
        zero_weights = int(rows - present.sum())
        first, second, weights = first[present], second[present], weights[present]
    undirected = direction == "drop"

    is_loop = first == second
    loop_nodes = np.unique(first[is_loop])
    loop_weights = None
    num_loops = int(is_loop.sum())
    if num_loops:
        if weights is not None:
            loop_weights = np.bincount(
                np.searchsorted(loop_nodes, first[is_loop]), weights=weights[is_loop]
            )
            weights = weights[~is_loop]
        first, second = first[~is_loop], second[~is_loop]
    del is_loop

    keys = _packed(first, second, undirected)
    if weights is None:
        keys.sort()
        values = None
    else:
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], weights[order]
    starts = _starts(keys)
    if values is not None and keys.size:
        values = np.add.reduceat(values, np.flatnonzero(starts))
    keys = keys[starts]
    duplicates = starts.size - keys.size + num_loops - loop_nodes.size
    num_directed = keys.size
    unequal = 0
    if undirected:
        starts = _starts(keys >> np.uint64(1))
        if values is not None and keys.size:
            first_of_pair = np.flatnonzero(starts)
            larger = np.maximum.reduceat(values, first_of_pair)
            smaller = np.minimum.reduceat(values, first_of_pair)
            unequal, values = int((larger != smaller).sum()), larger
        keys = keys[starts]
        num_pairs = keys.size
        one_way = 2 * num_pairs - num_directed
    else:
        reverse = _packed(
            (keys >> np.uint64(1)) & np.uint64(0x7FFFFFFF), keys >> np.uint64(33), False
        )
        one_way = int(num_directed - np.isin(reverse, keys, assume_unique=True).sum())
    del starts

    upper = _csr(
        keys, np.ones(keys.size, np.float32) if values is None else values, num_nodes
    )
    del keys, values
    matrix = upper
    if undirected:
        matrix = upper + upper.T.tocsr()
    if num_loops and self_loops == "keep":
        data = np.ones(loop_nodes.size, matrix.dtype) if loop_weights is None else loop_weights
        loops = sp.csr_array((data, (loop_nodes, loop_nodes)), shape=matrix.shape)
        matrix = sp.csr_array(matrix + loops)
    matrix.sort_indices()
    matrix.has_canonical_format = True
    notes = EdgeNotes(
        rows=rows,
        duplicates=duplicates,
        zero_weights=zero_weights,
        self_loops=int(loop_nodes.size),
        self_loops_kept=self_loops == "keep",
        one_way=one_way,
        direction_kept=not undirected,
        unequal_weights=unequal,
    )
    return matrix, notes
