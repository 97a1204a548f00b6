"""Class homophily: the excess of same-class edges over the size of each class."""

from __future__ import annotations

import numpy as np

from heterophily.data.graph import Graph
from heterophily.metrics.label_counts import class_sizes, label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def class_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Excess of same-class neighbours over class shares, averaged over classes (Eq. 3).

    .. math:: H_\text{class} = \frac{1}{C-1} \sum_k \Bigl[h_k - \frac{n_k}{N}\Bigr]_+, \qquad
        h_k = \frac{\sum_{v \in k} |\{u \in N_v : z_u = z_v\}|}{\sum_{v \in k} d_v}

    N and C count labelled nodes and the classes they have; a class none of whose nodes has a
    labelled neighbour adds nothing. With weights, h_k is a share of the weight.

    >>> class_homophily(Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1]))
    0.33333333333333326
    """
    need_labels(graph, "class homophily", classes=2)
    counts = label_counts(graph)
    need_edges(counts, graph, "class homophily")
    same, total = np.diag(counts.class_pairs), counts.class_pairs.sum(axis=1)
    sizes = class_sizes(graph)
    share = np.divide(same, total, out=np.zeros_like(total), where=total > 0)
    excess = np.maximum(share - sizes / sizes.sum(), 0.0)
    return float(excess.sum() / (np.count_nonzero(sizes) - 1))
