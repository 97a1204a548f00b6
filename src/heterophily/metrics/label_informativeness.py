"""Label informativeness: how much a neighbour's label tells about a node's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def label_informativeness(graph: Graph | LabelStatistics) -> float:
    r"""Share of the uncertainty of a label that a neighbour's label removes, in [0, 1]
    (LI_edge of Platonov et al. 2023).

    .. math:: \mathrm{LI} = \frac{I(z_u; z_v)}{H(z_u)} \quad\text{for a random edge } (u, v)

    An undirected edge is taken in both directions; in a directed graph u is its source.

    >>> label_informativeness(Graph.from_edges([0, 2], [1, 3], labels=[0, 1, 0, 1]))
    1.0
    """
    need_labels(graph, "label informativeness", classes=2)
    counts = label_counts(graph)
    need_edges(counts, graph, "label informativeness")
    pairs = counts.edge_ends / counts.edge_ends.sum()
    source = _entropy(pairs.sum(axis=1))
    if source == 0.0:
        raise UndefinedError(
            f"label informativeness of {graph.name!r}", "all edges start in one class"
        )
    mutual = source + _entropy(pairs.sum(axis=0)) - _entropy(pairs)
    return min(max(mutual / source, 0.0), 1.0)
