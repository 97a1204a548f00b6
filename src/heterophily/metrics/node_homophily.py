"""Node homophily: the share of neighbours of a node's own class, averaged over nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def node_homophily_values(graph: Graph) -> NDArray[np.float64]:
    r"""Share of each node's labelled neighbours that have its label, (N,) (Eq. 3).

    .. math:: H_\text{node}^v = |\{u \in N_v : z_u = z_v\}| \,/\, d_v

    NaN marks the nodes where it is undefined: unlabelled, or without a labelled neighbour.
    With weights, shares of the weight.

    >>> node_homophily_values(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]))
    array([1. , 0.5, 0. ])
    """
    counts = label_counts(graph)
    is_defined = counts.is_labelled & (counts.any_class > 0)
    values = np.full(graph.num_nodes, np.nan)
    np.divide(counts.own_class, counts.any_class, out=values, where=is_defined)
    return values


def node_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Mean share of a node's neighbours that have its label (Eq. 3).

    .. math:: H_\text{node} = \frac{1}{|V|} \sum_v |\{u \in N_v : z_u = z_v\}| \,/\, d_v

    The mean is over the labelled nodes that have a labelled neighbour; the formula is 0/0 for the
    others. In a directed graph neighbours are out-neighbours.

    >>> node_homophily(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]))
    0.5
    """
    need_labels(graph, "node homophily")
    counts = label_counts(graph)
    need_edges(counts, graph, "node homophily")
    total, nodes = counts.totals.shares
    return float(total / nodes)
