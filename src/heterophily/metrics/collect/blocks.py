"""Statistics from blocks of nodes, in two passes over the graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heterophily.metrics.consistency import LABEL_TOLERANCE
from heterophily.metrics.statistics import LabelStatistics, NeighbourhoodSums
from heterophily.native.edges import EdgeTotals

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Some nodes: their classes, their labelled neighbours by class, all their neighbours."""

    labels: NDArray[Any]  # (n,); C or above, or negative: unlabelled
    counts: NDArray[np.uint32]  # (n, C)
    degrees: NDArray[np.int64]  # (n,)


Jobs = Callable[[], Iterator[Callable[[], NodeBlock]]]
"""Gives the blocks of a graph as calls, each to be made in any thread, as often as asked."""


class _ClassSums:
    """Sums of one class over a block; added to others in the order of the blocks."""

    def __init__(self, num_classes: int) -> None:
        self.size = 0
        self.pairs = np.zeros(num_classes)
        self.aggregated = np.zeros(num_classes)  # of (A + I) Z / (d + 1)
        self.shares = 0.0
        self.nodes = 0
        self.gram = np.zeros((num_classes, num_classes))
        self.unit = np.zeros(num_classes)
        self.mean = np.zeros(num_classes)
        self.squares = np.zeros(num_classes)  # of differences to the mean

    @classmethod
    def of(cls, k: int, rows: NDArray[np.float64], degrees: NDArray[np.int64]) -> _ClassSums:
        found = cls(rows.shape[1])
        found.size = rows.shape[0]
        found.pairs = rows.sum(axis=0)
        weight = 1.0 / (degrees + 1.0)
        found.aggregated = weight @ rows
        found.aggregated[k] += weight.sum()
        known = rows.sum(axis=1)
        has = known > 0
        shares = rows[has] / known[has, None]
        found.nodes = shares.shape[0]
        if found.nodes:
            found.shares = float(shares[:, k].sum())
            found.gram = shares.T @ shares
            found.unit = (shares / np.linalg.norm(shares, axis=1, keepdims=True)).sum(axis=0)
            found.mean = shares.mean(axis=0)
            found.squares = np.square(shares - found.mean).sum(axis=0)
        return found

    def add(self, other: _ClassSums) -> None:
        nodes = self.nodes + other.nodes
        if nodes:
            gap = other.mean - self.mean
            self.squares += other.squares + gap * gap * (self.nodes * other.nodes / nodes)
            self.mean += gap * (other.nodes / nodes)
        self.nodes = nodes
        for name in ("size", "pairs", "aggregated", "shares", "gram", "unit"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class _BlockSums:
    """Everything that the first pass learns from a block."""

    by_class: list[_ClassSums]
    isolated: int
    walks: float
    matching_walks: float
    returning: float

    @classmethod
    def of(cls, block: NodeBlock) -> _BlockSums:
        counts = block.counts.astype(np.float64)
        chosen = (np.flatnonzero(block.labels == k) for k in range(counts.shape[1]))
        by_class = [
            _ClassSums.of(k, counts[rows], block.degrees[rows]) for k, rows in enumerate(chosen)
        ]
        known = counts.sum(axis=1)
        is_labelled = (block.labels >= 0) & (block.labels < counts.shape[1])
        return cls(
            by_class,
            int((block.degrees == 0).sum()),
            float(known @ known),
            float(np.square(counts).sum()),
            float(block.degrees[is_labelled].sum()),
        )

    def add(self, other: _BlockSums) -> None:
        for mine, others in zip(self.by_class, other.by_class, strict=True):
            mine.add(others)
        for name in ("isolated", "walks", "matching_walks", "returning"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def collect_blocks(
    jobs: Jobs,
    *,
    name: str,
    is_directed: bool,
    num_nodes: int,
    num_edges: int,
    class_names: tuple[str, ...],
    threads: int = 1,
) -> LabelStatistics:
    """Count a graph in two passes over its blocks; the same result for any number of threads."""
    num_classes = len(class_names)
    empty = [_ClassSums(num_classes) for _ in range(num_classes)]
    sums = _BlockSums(empty, 0, 0.0, 0.0, 0.0)
    for found in in_order(jobs(), _BlockSums.of, threads):
        sums.add(found)
    sizes = np.array([part.size for part in sums.by_class], np.int64)
    totals = np.array([part.aggregated for part in sums.by_class]).reshape(num_classes, -1)
    gap = mean_gaps(totals, sizes)
    consistent = sum(in_order(jobs(), lambda block: count_consistent(block, gap), threads))
    nodes = np.array([part.nodes for part in sums.by_class], np.int64)
    squares = np.array([part.squares for part in sums.by_class]).reshape(num_classes, -1)
    neighbourhoods = NeighbourhoodSums(
        nodes=nodes,
        grams=np.array([part.gram for part in sums.by_class]),
        units=np.array([part.unit for part in sums.by_class]),
        spreads=np.sqrt(squares / np.maximum(nodes, 1)[:, None]),
    )
    shares = np.array([sum(part.shares for part in sums.by_class), nodes.sum()])
    pairs = np.array([part.pairs for part in sums.by_class]).reshape(num_classes, -1)
    walks = sums.matching_walks - sums.returning, sums.walks - sums.returning
    return LabelStatistics(
        name=name,
        is_directed=is_directed,
        num_nodes=num_nodes,
        num_edges=num_edges,
        class_names=class_names,
        sizes=sizes,
        totals=EdgeTotals(pairs, np.zeros(num_classes), shares),
        neighbourhoods=neighbourhoods,
        consistent=(consistent, int(sizes.sum())),
        isolated=sums.isolated,
        walks=None if is_directed else walks,
    )


def mean_gaps(totals: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Return the mean of :math:`\hat A Z` in each class minus that in all others, (C, C).

    A node of class k is consistent (Definition 1) when its row of :math:`\hat A Z` times row k is
    not negative.
    """
    others = (1.0 - np.eye(sizes.size)) @ totals
    own_mean = totals / np.maximum(sizes, 1)[:, None]
    return np.asarray(own_mean - others / np.maximum(sizes.sum() - sizes, 1)[:, None])


def count_consistent(block: NodeBlock, gap: NDArray[np.float64]) -> int:
    """Return how many nodes of a block aggregation homophily counts; equal means count."""
    found = 0
    for k in range(gap.shape[0]):
        rows = np.flatnonzero(block.labels == k)
        margin = (block.counts[rows] @ gap[k] + gap[k, k]) / (block.degrees[rows] + 1.0)
        found += int(np.count_nonzero(margin >= -LABEL_TOLERANCE))
    return found


def in_order(
    jobs: Iterator[Callable[[], NodeBlock]], work: Callable[[NodeBlock], T], threads: int
) -> Iterator[T]:
    """Yield what work makes of each block, in order, while later blocks are worked on."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for job in jobs:
            waiting.append(pool.submit(_worked, job, work))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _worked(job: Callable[[], NodeBlock], work: Callable[[NodeBlock], T]) -> T:
    return work(job())
