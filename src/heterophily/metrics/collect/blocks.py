"""Statistics from blocks of nodes, in two passes over the graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heterophily.metrics.consistency import LABEL_TOLERANCE
from heterophily.metrics.statistics import LabelStatistics, NeighbourhoodSums
from heterophily.native.edges import EdgeTotals
from heterophily.native.node_sums import NodeBlock, NodeSums, count_consistent, sum_nodes

T = TypeVar("T")

BlockJobs = Callable[[], Iterator[Callable[[], NodeBlock]]]
"""Gives the blocks of a graph as calls, each to be made in any thread, as often as asked."""


def collect_blocks(
    jobs: BlockJobs,
    *,
    name: str,
    is_directed: bool,
    num_nodes: int,
    num_edges: int,
    class_names: tuple[str, ...],
    threads: int = 1,
) -> LabelStatistics:
    """Count a graph in two passes over its blocks; the same result for any number of threads."""
    sums = NodeSums.zeros(len(class_names))
    for found in in_order(jobs(), sum_nodes, threads):
        sums.add(found)
    gap = mean_gaps(sums.aggregated, sums.sizes)
    consistent = sum(
        in_order(jobs(), lambda block: count_consistent(block, gap, -LABEL_TOLERANCE), threads)
    )
    neighbourhoods = NeighbourhoodSums(
        nodes=sums.nodes,
        grams=sums.grams,
        units=sums.units,
        spreads=np.sqrt(sums.squares / np.maximum(sums.nodes, 1)[:, None]),
    )
    shares = np.array([sums.shares.trace(), sums.nodes.sum()])
    return LabelStatistics(
        name=name,
        is_directed=is_directed,
        num_nodes=num_nodes,
        num_edges=num_edges,
        class_names=class_names,
        sizes=sums.sizes,
        totals=EdgeTotals(sums.pairs, np.zeros(len(class_names)), shares),
        neighbourhoods=neighbourhoods,
        consistent=(consistent, int(sums.sizes.sum())),
        isolated=sums.isolated,
        walks=None if is_directed else sums.walks,
    )


def mean_gaps(totals: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Return the mean of :math:`\hat A Z` in each class minus that in all others, (C, C).

    A node of class k is consistent (Definition 1) when its row of :math:`\hat A Z` times row k is
    not negative.
    """
    others = (1.0 - np.eye(sizes.size)) @ totals
    own_mean = totals / np.maximum(sizes, 1)[:, None]
    return np.asarray(own_mean - others / np.maximum(sizes.sum() - sizes, 1)[:, None])


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
