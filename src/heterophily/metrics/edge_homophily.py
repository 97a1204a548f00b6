"""Edge homophily: the share of edges between nodes of one class."""

from __future__ import annotations

from typing import Literal

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.label_counts import class_sizes, label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics

SelfLoopRule = Literal["given", "every-node"]


def edge_homophily(graph: Graph | LabelStatistics, *, self_loops: SelfLoopRule = "given") -> float:
    r"""Share of edges whose two ends have the same label (Eq. 3).

    .. math:: H_\text{edge} = |\{(u, v) \in E : z_u = z_v\}| \,/\, |E|

    An undirected edge counts once, a directed one by itself; with weights, the share of the
    weight. Edges with an unlabelled end are left out. ``self_loops="every-node"`` is the variant
    behind six of the paper's printed values: stored loops are replaced by one loop of weight 1 on
    every labelled node, and loops count as matching edges.

    >>> edge_homophily(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]))
    0.5
    """
    if self_loops not in ("given", "every-node"):
        raise InputError(f"self_loops={self_loops!r}; choose 'given' or 'every-node'")
    need_labels(graph, "edge homophily")
    counts = label_counts(graph)
    if self_loops == "given":
        need_edges(counts, graph, "edge homophily")
        return float(np.trace(counts.edge_ends) / counts.edge_ends.sum())
    loops = float(counts.totals.class_loops.sum())
    half = 1.0 if graph.is_directed else 0.5
    added = float(class_sizes(graph).sum())
    matching = half * (np.trace(counts.class_pairs) - loops)
    edges = half * (counts.class_pairs.sum() - loops)
    return float((matching + added) / (edges + added))
