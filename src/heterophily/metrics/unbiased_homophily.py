"""Unbiased homophily: comparable across numbers and sizes of classes."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def unbiased_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Homophily that does not depend on how many classes there are, nor on their sizes, in [-1, 1]
    (Mironov and Prokhorenkova 2024, arXiv 2412.09663).

    .. math:: h_\text{unb} = \frac{\sum_{i<j} \bigl(\sqrt{c_{ii} c_{jj}} - c_{ij}\bigr)}
                                  {\sum_{i<j} \bigl(\sqrt{c_{ii} c_{jj}} + c_{ij}\bigr)}

    with the shares c of edge ends between the classes. 1: no edge joins two classes; -1: at most
    one class has edges within; 0: edges ignore the classes. The direction of edges is dropped.

    >>> unbiased_homophily(Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1]))
    0.3333333333333333
    """
    need_labels(graph, "unbiased homophily", classes=2)
    counts = label_counts(graph)
    need_edges(counts, graph, "unbiased homophily")
    pairs = counts.edge_ends + counts.edge_ends.T
    pairs = pairs / pairs.sum()
    within = np.sqrt(np.diag(pairs))
    upper = np.triu_indices(pairs.shape[0], 1)
    expected, found = np.outer(within, within)[upper].sum(), pairs[upper].sum()
    if expected + found == 0.0:
        raise UndefinedError(
            f"unbiased homophily of {graph.name!r}", "all edges lie within one class"
        )
    return float((expected - found) / (expected + found))
