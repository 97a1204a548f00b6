"""Class compatibility: which classes the neighbours of each class have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def class_compatibility(graph: Graph | LabelStatistics) -> NDArray[np.float64]:
    r"""Share of the edges of class k that lead to class l, (C, C) (Zhu et al. 2021).

    .. math:: H_{kl} = \frac{(Z^\top A Z)_{kl}}{\sum_m (Z^\top A Z)_{km}}

    Rows add up to 1, except that the row of a class without edges to labelled nodes is zero.
    The diagonal holds the class-wise homophily h_k of Eq. (3).

    >>> class_compatibility(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])).round(2).tolist()
    [[0.67, 0.33], [1.0, 0.0]]
    """
    need_labels(graph, "class compatibility")
    counts = label_counts(graph)
    need_edges(counts, graph, "class compatibility")
    total = counts.class_pairs.sum(axis=1, keepdims=True)
    shares = np.zeros_like(counts.class_pairs)
    np.divide(counts.class_pairs, total, out=shares, where=total > 0)
    return shares
