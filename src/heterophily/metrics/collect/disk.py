"""Statistics of a graph on disk: its parts are read twice, front to back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

from heterophily.data.disk.graph import DiskGraph, DiskPart
from heterophily.metrics.collect.blocks import collect_blocks
from heterophily.metrics.statistics import LabelStatistics
from heterophily.native.node_sums import NodeBlock
from heterophily.native.rows import compact_labels, count_row_labels

_ROWS, _ENTRIES = 1 << 19, 1 << 22  # of a block, at most (one row may have more entries)
_COUNTS = 1 << 22  # of neighbours by class in a block


def disk_statistics(graph: DiskGraph, *, threads: int | None = None) -> LabelStatistics:
    """Count a graph on disk; memory grows with its nodes alone, one byte each (four with more
    than 255 classes), and with the number of classes.

    >>> import tempfile
    >>> from heterophily import Graph
    >>> from heterophily.data.disk.write import write_disk_graph
    >>> small = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> disk_statistics(write_disk_graph(small, tempfile.mkdtemp() + "/g.disk")).class_pairs
    array([[2., 1.],
           [1., 0.]])
    """
    labels = compact_labels(graph.labels, graph.num_classes)
    rows = min(_ROWS, max(_COUNTS // max(graph.num_classes, 1), 1))

    def job(part: DiskPart, first: int, last: int) -> Callable[[], NodeBlock]:
        def count() -> NodeBlock:
            indptr, indices = part.read(first, last)
            counts = count_row_labels(indptr, indices, labels, graph.num_classes)
            own = labels[part.first + first : part.first + last]
            return NodeBlock(own, counts, np.diff(indptr))

        return count

    def jobs() -> Iterator[Callable[[], NodeBlock]]:
        for part in graph.parts:
            for first, last in row_blocks(part, rows=rows):
                yield job(part, first, last)

    return collect_blocks(
        jobs,
        name=graph.name,
        is_directed=graph.is_directed,
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        class_names=graph.class_names,
        threads=threads or os.cpu_count() or 1,
    )


def row_blocks(
    part: DiskPart, *, rows: int = _ROWS, entries: int = _ENTRIES
) -> Iterator[tuple[int, int]]:
    """Cut a part into runs of rows with a bounded number of entries: (first, last + 1)."""
    first = 0
    while first < part.num_rows:
        last = min(first + rows, part.num_rows)
        starts = part.starts(first, last)
        if starts[-1] - starts[0] > entries:
            last = first + max(int(np.searchsorted(starts, starts[0] + entries, "right")) - 1, 1)
        yield first, last
        first = last
