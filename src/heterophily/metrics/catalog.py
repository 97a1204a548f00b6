"""The table of metrics, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from heterophily.data.interchange import GraphLike, as_graph
from heterophily.errors import InputError, lookup
from heterophily.metrics.adjusted_homophily import adjusted_homophily
from heterophily.metrics.aggregation_homophily import (
    aggregation_homophily,
    modified_aggregation_homophily,
)
from heterophily.metrics.aggregation_similarity import aggregation_similarity, feature_similarity
from heterophily.metrics.class_homophily import class_homophily
from heterophily.metrics.diversification import diversification_distinguishability
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.metrics.label_informativeness import label_informativeness
from heterophily.metrics.node_homophily import node_homophily

Metric = Callable[..., float]  # (graph, *, options) -> value

LABEL_METRICS: dict[str, Metric] = {
    "edge_homophily": edge_homophily,
    "node_homophily": node_homophily,
    "class_homophily": class_homophily,
    "adjusted_homophily": adjusted_homophily,
    "label_informativeness": label_informativeness,
    "aggregation_homophily": aggregation_homophily,
    "modified_aggregation_homophily": modified_aggregation_homophily,
}
FEATURE_METRICS: dict[str, Metric] = {
    "aggregation_similarity": aggregation_similarity,
    "feature_similarity": feature_similarity,
    "diversification_distinguishability": diversification_distinguishability,
}
METRICS: dict[str, Metric] = {**LABEL_METRICS, **FEATURE_METRICS}


@dataclass(frozen=True, slots=True)
class MetricValues:
    """Metrics of one graph: a value each, or None and the reason why it is undefined."""

    values: dict[str, float | None]
    reasons: dict[str, str]

    def __getitem__(self, name: str) -> float | None:
        """Return one value by its name."""
        return lookup(self.values, "metric", name)


def compute_metrics(graph: GraphLike, *, names: Iterable[str] | None = None) -> MetricValues:
    """Compute several metrics (by default all) of one graph; the edges are counted once.

    An undefined metric does not stop the others: its value is None, and ``reasons`` says why.

    >>> graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> result = compute_metrics(graph, names=["edge_homophily", "feature_similarity"])
    >>> result["edge_homophily"], result.reasons["feature_similarity"]
    (0.5, "feature similarity of 'graph' is undefined: the graph has no features")
    """
    graph = as_graph(graph)
    values: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for name in METRICS if names is None else names:
        metric = lookup(METRICS, "metric", name)
        try:
            values[name] = metric(graph)
        except InputError as error:
            values[name], reasons[name] = None, str(error)
    return MetricValues(values, reasons)
