"""Aggregation homophily: whether nodes of one class stay alike after aggregation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import LOW, Filter
from heterophily.filters.normalization import Normalization
from heterophily.metrics.class_means import ClassMeans, compared_nodes, label_class_means
from heterophily.metrics.consistency import LABEL_TOLERANCE, Consistency, is_consistent, share
from heterophily.metrics.label_counts import need_labels
from heterophily.metrics.statistics import LabelStatistics

_NAME = "aggregation homophily"


def _means(
    graph: Graph,
    nodes: ArrayLike | None,
    filter: Filter,
    normalization: Normalization,
    renormalize: bool,
) -> ClassMeans:
    return label_class_means(
        graph,
        filter=filter,
        normalization=normalization,
        renormalize=renormalize,
        is_compared=compared_nodes(graph, nodes, _NAME),
    )


def aggregation_homophily(
    graph: Graph | LabelStatistics,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    ties: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> float:
    r"""Share of nodes more alike to their own class than to the rest, after aggregating labels.

    .. math:: H_\text{agg} = S_\text{agg}\bigl(S(\hat A, Z)\bigr) = \frac{1}{|V|} \Bigl|\bigl\{v :
        \mathrm{Mean}_{u: z_u = z_v} S_{vu} \ge \mathrm{Mean}_{u: z_u \ne z_v} S_{vu}
        \bigr\}\Bigr|, \quad S(\hat A, Z) = \hat A Z (\hat A Z)^\top

    (Eqs. 7 and 9; the class of v includes v.) Equal means are common, and are compared with the
    tolerance ``LABEL_TOLERANCE``. Unlabelled nodes stay in Â, have a zero row in Z and are not
    compared; ``nodes`` (a mask) restricts the compared nodes further, on both sides, while all
    labels still enter ÂZ.

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> aggregation_homophily(bipartite)
    1.0
    """
    if isinstance(graph, LabelStatistics):
        need_labels(graph, _NAME, classes=2)
        plain = filter == LOW and normalization == "random-walk" and renormalize
        if not plain or ties != "consistent" or nodes is not None:
            raise InputError(f"{_NAME} of {graph.name!r}: statistics have the default options only")
        return graph.consistent[0] / graph.consistent[1]
    means = _means(graph, nodes, filter, normalization, renormalize)
    return share(is_consistent(means, tolerance=LABEL_TOLERANCE, ties=ties), means)


def modified_aggregation_homophily(
    graph: Graph | LabelStatistics,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    ties: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> float:
    r"""Aggregation homophily rescaled to reach 0 (Eqs. 8 and 9).

    .. math:: H_\text{agg}^M = [2 H_\text{agg} - 1]_+

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> modified_aggregation_homophily(bipartite)
    1.0
    """
    value = aggregation_homophily(
        graph,
        filter=filter,
        normalization=normalization,
        renormalize=renormalize,
        ties=ties,
        nodes=nodes,
    )
    return max(2.0 * value - 1.0, 0.0)


def aggregation_homophily_flags(
    graph: Graph,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    ties: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Mask (N,) of the nodes that aggregation homophily counts; False where not compared."""
    means = _means(graph, nodes, filter, normalization, renormalize)
    return is_consistent(means, tolerance=LABEL_TOLERANCE, ties=ties)
