"""The diagnosis of a graph on disk: metrics of all edges, a probe of a sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskGraph
from heterophily.data.memory import SMALLEST_ON_DISK
from heterophily.diagnosis.beyond_memory import Held, check_classes, report_of
from heterophily.diagnosis.diagnose import Diagnosis
from heterophily.diagnosis.disk_columns import DiskColumns
from heterophily.diagnosis.probe import MAX_NODES
from heterophily.diagnosis.sampled_columns import SKETCHED
from heterophily.diagnosis.shuffle import MAX_EDGES, EdgeChance, chance_of
from heterophily.diagnosis.sources import SECRET
from heterophily.metrics.collect.disk import disk_statistics, row_blocks
from heterophily.metrics.statistics import LabelStatistics


def diagnose_disk(
    graph: DiskGraph,
    *,
    quick: bool = False,
    seed: int = 0,
    next_command: str = "",
    max_nodes: int = MAX_NODES,
) -> Diagnosis:
    """Say whether the heterophily of a graph on disk is harmful.

    The metrics of labels are those in memory, and the probe looks at the same nodes, in the same
    folds, with the same columns; only which neighbours a node has is sketched from fewer rows.
    Arguments are those of :func:`~heterophily.diagnosis.diagnose.diagnose`; ``next_command`` says
    what to run next.
    """
    counted = replace(
        disk_statistics(graph),
        undefined={"similarities": "features of a graph on disk are not compared pair by pair"},
    )
    check_classes(counted)
    labels = small_labels(graph)
    notes = graph.manifest.notes
    report = report_of(
        counted,
        content_hash=graph.content_hash,
        features=graph.num_features,
        edge_rows=int(notes.get("rows", graph.num_edges)),
        duplicates_merged=int(notes.get("duplicates", 0)),
        self_loops_found=int(notes.get("self_loops", 0)),
        self_loops_removed=int(notes.get("self_loops", 0)),
    )
    held = Held(
        counted,
        report,
        lambda: DiskColumns(graph, labels, seed, quick, max_nodes),
        lambda: sampled_chance(graph, counted, labels, seed=seed),
        "disk",
        ("The graph stayed on disk: every edge was counted, and the probe read a sample.",),
    )
    return held.diagnose(quick=quick, seed=seed, next_command=next_command)


def memory_of_diagnosis(num_nodes: int, num_entries: int) -> int:
    """Return about how many bytes :func:`diagnose_disk` takes.

    Labels and lists of nodes grow with the nodes, the sketch of who is linked to whom with the
    edges that it looks at.

    >>> memory_of_diagnosis(2_000_000, 40_000_000) // 10**6
    586
    """
    return SMALLEST_ON_DISK + 210 * min(num_entries, SKETCHED) + 16 * num_nodes


def memory_in_memory(num_nodes: int, num_entries: int, num_features: int) -> int:
    """Return about how many bytes the usual diagnosis takes, the graph and the program included.

    Measured: 1.23 GB at 1e6 nodes, 2e7 entries and 16 columns, 0.48 GB at a tenth of them.

    >>> round(memory_in_memory(10**6, 2 * 10**7, 16) / 2**30, 2)
    1.24
    """
    return 350 * 2**20 + 40 * num_entries + (32 + 8 * num_features) * num_nodes


def small_labels(graph: DiskGraph) -> NDArray[Any]:
    """Return all labels in memory, -1 = none, in two bytes each where that is enough."""
    return np.array(graph.labels, np.int16 if graph.num_classes < 2**15 else np.int32)


def sampled_chance(
    graph: DiskGraph, counted: LabelStatistics, labels: NDArray[Any], *, seed: int
) -> EdgeChance | None:
    """Compare the labels at both ends of at most 50,000 edges with shuffles.

    The same edges are drawn as in memory: by their place among all, which are walked over once.
    """
    count = int(counted.class_pairs.sum()) // (1 if graph.is_directed else 2)
    if count == 0:
        return None
    rng = np.random.default_rng([SECRET, seed, 1])
    drawn = chosen = np.arange(min(count, MAX_EDGES))
    if count > MAX_EDGES:
        chosen = rng.choice(count, MAX_EDGES, replace=False)
        drawn = np.sort(chosen)
    sources, targets, seen = [], [], 0
    for part in graph.parts:
        for first, last in row_blocks(part, entries=1 << 20):
            indptr, indices = part.read(first, last)
            rows = np.repeat(np.arange(part.first + first, part.first + last), np.diff(indptr))
            keep = (labels[rows] >= 0) & (labels[indices] >= 0)
            if not graph.is_directed:
                keep &= rows < indices
            kept = np.flatnonzero(keep)
            mine = drawn[np.searchsorted(drawn, seen) : np.searchsorted(drawn, seen + kept.size)]
            taken = kept[mine - seen]
            sources.append(rows[taken])
            targets.append(indices[taken].astype(np.int64))
            seen += kept.size
    order = np.searchsorted(drawn, chosen)
    source, target = (np.concatenate(side)[order] for side in (sources, targets))
    if count > MAX_EDGES:
        nodes = np.unique(np.concatenate([source, target]))
    else:
        nodes = np.flatnonzero(labels >= 0)
    ends = np.searchsorted(nodes, source), np.searchsorted(nodes, target)
    known = labels[nodes].astype(np.int64)
    return chance_of(ends, known, count, is_directed=graph.is_directed, rng=rng)
