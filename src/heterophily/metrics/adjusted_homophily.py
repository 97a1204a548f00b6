"""Adjusted homophily: edge homophily compared with what the degrees alone would give."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def adjusted_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Edge homophily corrected for chance, at most 1 (Platonov et al. 2023, "Characterizing
    Graph Datasets for Node Classification").

    .. math:: h_\text{adj} = \frac{H_\text{edge} - \sum_k D_k^2 / (2|E|)^2}
                                  {1 - \sum_k D_k^2 / (2|E|)^2}, \qquad
              D_k = \sum_{v : z_v = k} d_v

    0 means that edges ignore the classes. In a directed graph the product of the out-degree and
    the in-degree of a class takes the place of its squared degree.

    >>> adjusted_homophily(Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1]))
    0.33333333333333326
    """
    need_labels(graph, "adjusted homophily", classes=2)
    counts = label_counts(graph)
    need_edges(counts, graph, "adjusted homophily")
    pairs = counts.edge_ends / counts.edge_ends.sum()
    expected = float(pairs.sum(axis=1) @ pairs.sum(axis=0))
    if np.isclose(expected, 1.0, rtol=0.0, atol=1e-12):
        raise UndefinedError(
            f"adjusted homophily of {graph.name!r}", "all edges lie within one class"
        )
    return float((np.trace(pairs) - expected) / (1.0 - expected))
