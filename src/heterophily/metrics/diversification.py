"""Diversification distinguishability: whether the high-pass filter tells classes apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.filters.filter import HIGH, Filter
from heterophily.filters.normalization import Normalization
from heterophily.metrics.class_means import compared_nodes, feature_class_means
from heterophily.metrics.consistency import FEATURE_TOLERANCE
from heterophily.metrics.statistics import LabelStatistics, collected_share

_NAME = "diversification distinguishability"


def diversification_flags(
    graph: Graph,
    *,
    filter: Filter = HIGH,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    normalize_features: bool = False,
    nodes: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    r"""Mask (N,) of the diversification distinguishable nodes (Definition 2, Eq. 10).

    .. math:: \mathrm{Mean}_{u: z_u = z_v} S(I - \hat A, X)_{vu} \ge 0 \quad\text{and}\quad
              \mathrm{Mean}_{u: z_u \ne z_v} S(I - \hat A, X)_{vu} \le 0

    Both are meant with equality: a node whose row of (I - Â)X is zero is distinguishable. Zero is
    decided up to ``FEATURE_TOLERANCE``, a fraction of what the means could be at most. Nodes that
    are not compared (unlabelled, or outside the mask ``nodes``) are False.
    """
    means = feature_class_means(
        graph,
        filter=filter,
        normalization=normalization,
        renormalize=renormalize,
        normalize_features=normalize_features,
        is_compared=compared_nodes(graph, nodes, _NAME),
        metric=_NAME,
    )
    margin = FEATURE_TOLERANCE * means.scale
    return np.asarray(means.is_compared & (means.own >= -margin) & (means.other <= margin))


def diversification_distinguishability(
    graph: Graph | LabelStatistics,
    *,
    filter: Filter = HIGH,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    normalize_features: bool = False,
    nodes: ArrayLike | None = None,
) -> float:
    r"""Share of diversification distinguishable nodes (Definition 2).

    .. math:: \mathrm{DD}_{\hat A, X} = |\{v : v \text{ is diversification distinguishable}\}|
              \,/\, |V|

    For two classes and X = Z it is 1 (Theorem 1). Options as in :func:`diversification_flags`;
    the share is among the compared nodes.

    >>> one_hot = np.eye(2)[[0, 1, 1, 0]]
    >>> square = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], labels=[0, 1, 1, 0], features=one_hot)
    >>> diversification_distinguishability(square)
    1.0
    """
    if isinstance(graph, LabelStatistics):
        return collected_share(graph, "diversified", _NAME)
    flags = diversification_flags(
        graph,
        filter=filter,
        normalization=normalization,
        renormalize=renormalize,
        normalize_features=normalize_features,
        nodes=nodes,
    )
    compared = compared_nodes(graph, nodes, _NAME)
    return float(np.count_nonzero(flags) / np.count_nonzero(compared))
