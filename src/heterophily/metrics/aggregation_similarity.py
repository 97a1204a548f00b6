"""Aggregation similarity: whether the features of one class are alike, aggregated or raw."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.filters.filter import IDENTITY, LOW, Filter
from heterophily.filters.normalization import Normalization
from heterophily.metrics.class_means import ClassMeans, compared_nodes, feature_class_means
from heterophily.metrics.consistency import FEATURE_TOLERANCE, Consistency, is_consistent, share
from heterophily.metrics.statistics import LabelStatistics, collected_share


def _means(
    graph: Graph,
    nodes: ArrayLike | None,
    filter: Filter,
    normalization: Normalization,
    renormalize: bool,
    normalize_features: bool,
    metric: str = "aggregation similarity",
) -> ClassMeans:
    return feature_class_means(
        graph,
        filter=filter,
        normalization=normalization,
        renormalize=renormalize,
        normalize_features=normalize_features,
        is_compared=compared_nodes(graph, nodes, metric),
        metric=metric,
    )


def aggregation_similarity(
    graph: Graph | LabelStatistics,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    normalize_features: bool = False,
    ties: Consistency = "consistent",
    zero_rows: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> float:
    r"""Share of nodes whose aggregated features are more alike to their own class than to the rest.

    .. math:: S_\text{agg}\bigl(S(\hat A, X)\bigr) = \frac{1}{|V|} \Bigl|\bigl\{v :
        \mathrm{Mean}_{u: z_u = z_v} S_{vu} \ge \mathrm{Mean}_{u: z_u \ne z_v} S_{vu}
        \bigr\}\Bigr|, \quad S(\hat A, X) = \hat A X (\hat A X)^\top

    (Eq. 7.) Â and X cover all nodes, only labelled ones (those of the mask ``nodes``) are compared.
    ``normalize_features`` divides every row of X by its L1 norm; ``zero_rows="inconsistent"``
    counts a node whose row of ÂX is zero as false. The printed tables use both.

    >>> path = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1], features=np.eye(3)[[0, 0, 1]])
    >>> aggregation_similarity(path)
    1.0
    """
    if isinstance(graph, LabelStatistics):
        return collected_share(graph, "aggregated", "aggregation similarity")
    means = _means(graph, nodes, filter, normalization, renormalize, normalize_features)
    flags = is_consistent(means, tolerance=FEATURE_TOLERANCE, ties=ties, zero_rows=zero_rows)
    return share(flags, means)


def feature_similarity(
    graph: Graph | LabelStatistics,
    *,
    normalize_features: bool = False,
    ties: Consistency = "consistent",
    zero_rows: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> float:
    r"""Share of nodes whose own features are more alike to their class than to the rest.

    .. math:: S_\text{agg}\bigl(S(I, X)\bigr)

    (Eq. 7 with the identity for Â: the edges do not enter.) Options as in
    :func:`aggregation_similarity`.

    >>> path = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1], features=np.eye(3)[[0, 1, 1]])
    >>> round(feature_similarity(path), 4)
    0.6667
    """
    if isinstance(graph, LabelStatistics):
        return collected_share(graph, "raw", "feature similarity")
    means = _means(
        graph, nodes, IDENTITY, "random-walk", True, normalize_features, "feature similarity"
    )
    flags = is_consistent(means, tolerance=FEATURE_TOLERANCE, ties=ties, zero_rows=zero_rows)
    return share(flags, means)


def aggregation_similarity_flags(
    graph: Graph,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    normalize_features: bool = False,
    ties: Consistency = "consistent",
    zero_rows: Consistency = "consistent",
    nodes: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Mask (N,) of the nodes that aggregation similarity counts; False where not compared."""
    means = _means(graph, nodes, filter, normalization, renormalize, normalize_features)
    return is_consistent(means, tolerance=FEATURE_TOLERANCE, ties=ties, zero_rows=zero_rows)
