"""Sums over nodes by class, from the classes among their neighbours; NumPy twins beside."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int32, c_int64, c_void_p
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.native.call import call_native, native_function

_ROWS = (
    ("num_rows", c_int64),
    ("num_classes", c_int64),
    ("labels", c_void_p),
    ("counts", c_void_p),
    ("degrees", c_void_p),
    ("label_bytes", c_int32),
    ("reserved", c_int32),
)
_SUMS = ("sizes", "nodes", "pairs", "aggregated", "shares", "squares", "units", "grams", "others")


class _NodeSums(ctypes.Structure):
    """``hp_node_sums`` of node_sums.h."""

    _fields_ = (*_ROWS, *((name, c_void_p) for name in _SUMS))


class _Consistent(ctypes.Structure):
    """``hp_consistent`` of node_sums.h."""

    _fields_ = (*_ROWS, ("gap", c_void_p), ("least", c_double), ("found", c_int64))


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Some nodes: their classes, their labelled neighbours by class, all their neighbours."""

    labels: NDArray[Any]  # (n,); C or above, or negative: unlabelled
    counts: NDArray[np.uint32]  # (n, C)
    degrees: NDArray[np.int64]  # (n,)


@dataclass(eq=False)
class NodeSums:
    """Sums over some nodes, by their class; s are the shares of a node's labelled neighbours."""

    sizes: NDArray[np.int64]  # (C,): labelled nodes
    nodes: NDArray[np.int64]  # (C,): those with labelled neighbours
    pairs: NDArray[np.float64]  # (C, C): labelled neighbours by class
    aggregated: NDArray[np.float64]  # (C, C): rows of (A + I) Z / (d + 1)
    shares: NDArray[np.float64]  # (C, C): s
    squares: NDArray[np.float64]  # (C, C): squared distances of s to its mean
    units: NDArray[np.float64]  # (C, C): s / |s|
    grams: NDArray[np.float64]  # (C, C, C): outer products of s with itself
    others: NDArray[np.float64]  # (4,): see the properties

    @classmethod
    def zeros(cls, num_classes: int) -> NodeSums:
        """Return the sums of no node."""
        square = (num_classes, num_classes)
        return cls(
            sizes=np.zeros(num_classes, np.int64),
            nodes=np.zeros(num_classes, np.int64),
            pairs=np.zeros(square),
            aggregated=np.zeros(square),
            shares=np.zeros(square),
            squares=np.zeros(square),
            units=np.zeros(square),
            grams=np.zeros((num_classes, *square)),
            others=np.zeros(4),
        )

    @property
    def isolated(self) -> int:
        """Nodes without neighbours."""
        return int(self.others[0])

    @property
    def walks(self) -> tuple[float, float]:
        """Walks of two edges between labelled nodes with equal labels, and all, without returns."""
        _, known, matching, returning = self.others.tolist()
        return matching - returning, known - returning

    def add(self, other: NodeSums) -> None:
        """Add the sums of other nodes."""
        both = self.nodes * other.nodes / np.maximum(self.nodes + other.nodes, 1)
        means = [each.shares / np.maximum(each.nodes, 1)[:, None] for each in (self, other)]
        self.squares += both[:, None] * np.square(means[1] - means[0])
        for field in fields(self):
            values = getattr(self, field.name)
            values += getattr(other, field.name)


def sum_nodes(block: NodeBlock) -> NodeSums:
    """Return the sums of a block."""
    num_classes = block.counts.shape[1]
    sums = NodeSums.zeros(num_classes)
    function = native_function("hp_sum_nodes", _NodeSums)
    if function is None:
        _sum_numpy(block, sums)
        return sums
    held = _held(block)
    addresses = {name: getattr(sums, name).ctypes.data for name in _SUMS}
    struct = _NodeSums(**_row_fields(held, num_classes), **addresses)
    call_native(function, struct, 1)
    return sums


def count_consistent(block: NodeBlock, gap: NDArray[np.float64], least: float) -> int:
    """Return how many nodes of class k have a row of (A + I) Z / (d + 1) times ``gap[k]`` of at
    least ``least``."""
    function = native_function("hp_count_consistent", _Consistent)
    if function is None:
        found = 0
        for k in range(gap.shape[0]):
            rows = np.flatnonzero(block.labels == k)
            margin = (block.counts[rows] @ gap[k] + gap[k, k]) / (block.degrees[rows] + 1.0)
            found += int(np.count_nonzero(margin >= least))
        return found
    held = _held(block)
    gap = np.ascontiguousarray(gap)
    struct = _Consistent(**_row_fields(held, gap.shape[0]), gap=gap.ctypes.data, least=least)
    call_native(function, struct, 1)
    return int(struct.found)


def _held(block: NodeBlock) -> NodeBlock:
    """Return the block as the library reads it; -1 becomes the largest number."""
    is_byte = block.labels.dtype == np.uint8
    return NodeBlock(
        np.ascontiguousarray(block.labels, np.uint8 if is_byte else np.uint32),
        np.ascontiguousarray(block.counts, np.uint32),
        np.ascontiguousarray(block.degrees, np.int64),
    )


def _row_fields(block: NodeBlock, num_classes: int) -> dict[str, int]:
    return {
        "num_rows": block.labels.size,
        "num_classes": num_classes,
        "labels": block.labels.ctypes.data,
        "counts": block.counts.ctypes.data,
        "degrees": block.degrees.ctypes.data,
        "label_bytes": block.labels.itemsize,
    }


def _sum_numpy(block: NodeBlock, sums: NodeSums) -> None:
    counts = block.counts.astype(np.float64)
    num_classes = counts.shape[1]
    known = counts.sum(axis=1)
    is_labelled = (block.labels >= 0) & (block.labels < num_classes)
    sums.others[:] = (
        (block.degrees == 0).sum(),
        known @ known,
        np.square(counts).sum(),
        block.degrees[is_labelled].sum(),
    )
    for k in range(num_classes):
        chosen = np.flatnonzero(block.labels == k)
        rows, weight = counts[chosen], 1.0 / (block.degrees[chosen] + 1.0)
        sums.sizes[k] = chosen.size
        sums.pairs[k] = rows.sum(axis=0)
        sums.aggregated[k] = weight @ rows
        sums.aggregated[k, k] += weight.sum()
        has = known[chosen] > 0
        shares = rows[has] / known[chosen][has, None]
        sums.nodes[k] = shares.shape[0]
        if shares.size:
            sums.grams[k] = shares.T @ shares
            sums.units[k] = (shares / np.linalg.norm(shares, axis=1, keepdims=True)).sum(axis=0)
            sums.shares[k] = shares.sum(axis=0)
            sums.squares[k] = np.square(shares - shares.mean(axis=0)).sum(axis=0)
