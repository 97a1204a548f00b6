"""The table of metrics, and all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from heterophily.data.interchange import GraphLike, as_graph
from heterophily.errors import InputError, UndefinedError, lookup
from heterophily.metrics.adjusted_homophily import adjusted_homophily
from heterophily.metrics.aggregation_homophily import (
    aggregation_homophily,
    modified_aggregation_homophily,
)
from heterophily.metrics.aggregation_similarity import aggregation_similarity, feature_similarity
from heterophily.metrics.class_homophily import class_homophily
from heterophily.metrics.diversification import diversification_distinguishability
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.metrics.feature_edge_similarity import generalized_edge_homophily
from heterophily.metrics.feature_homophily import feature_homophily
from heterophily.metrics.label_informativeness import label_informativeness
from heterophily.metrics.metric import Metric
from heterophily.metrics.neighbourhoods import (
    neighbourhood_contrast,
    neighbourhood_identifiability,
    structural_homophily,
)
from heterophily.metrics.node_homophily import node_homophily
from heterophily.metrics.statistics import LabelStatistics
from heterophily.metrics.unbiased_homophily import unbiased_homophily
from heterophily.metrics.walks import effective_homophily, two_hop_homophily

_SIGNED = (-1.0, 1.0)

_TABLE = (
    Metric(
        "edge_homophily",
        "H_edge",
        edge_homophily,
        "H_edge = |{(u,v) ∈ E : z_u = z_v}| / |E|",
        "share of edges whose two ends have the same class",
    ),
    Metric(
        "node_homophily",
        "H_node",
        node_homophily,
        "H_node = (1/|V|) Σ_v |{u ∈ N_v : z_u = z_v}| / d_v",
        "mean of the local homophily H_node^v over the nodes",
    ),
    Metric(
        "class_homophily",
        "H_class",
        class_homophily,
        "H_class = 1/(C−1) Σ_k max(h_k − |{v : z_v = k}|/N, 0)",
        "homophily of each class beyond its share of the nodes",
    ),
    Metric(
        "adjusted_homophily",
        "h_adj",
        adjusted_homophily,
        "h_adj = (H_edge − Σ_k p_k²) / (1 − Σ_k p_k²)",
        "edge homophily corrected for chance; p_k is the share of edge ends in class k",
        range=_SIGNED,
        origin="Platonov et al. 2023",
    ),
    Metric(
        "label_informativeness",
        "LI",
        label_informativeness,
        "LI = I(z_u; z_v) / H(z_u) over random edges",
        "how much a neighbour's class tells about a node's class",
        origin="Platonov et al. 2023",
    ),
    Metric(
        "aggregation_homophily",
        "H_agg",
        aggregation_homophily,
        "H_agg = (1/|V|) |{v : mean_u(S(Â,Z)_vu | z_u = z_v) ≥ mean_u(S(Â,Z)_vu | z_u ≠ z_v)}|",
        "share of nodes that stay nearer to their own class after aggregation",
    ),
    Metric(
        "modified_aggregation_homophily",
        "H_agg^M",
        modified_aggregation_homophily,
        "H_agg^M = max(2 H_agg − 1, 0)",
        "rescaled so that chance is 0",
    ),
    Metric(
        "aggregation_similarity",
        "S_agg(ÂX)",
        aggregation_similarity,
        "S_agg(S(Â,X)), with features X in place of the labels of H_agg",
        "share of nodes whose aggregated features are nearer to their own class",
        needs="features",
    ),
    Metric(
        "feature_similarity",
        "S_agg(X)",
        feature_similarity,
        "S_agg(S(I,X)): the same without aggregation",
        "share of nodes whose own features are nearer to their own class",
        needs="features",
    ),
    Metric(
        "diversification_distinguishability",
        "DD",
        diversification_distinguishability,
        "DD = share of nodes v with mean same-class S(I−Â,X) ≥ 0 ≥ mean other-class S(I−Â,X)",
        "share of nodes that differ from their neighbours as their class does",
        needs="features",
    ),
    Metric(
        "unbiased_homophily",
        "h_unb",
        unbiased_homophily,
        "h_unb = Σ_{i<j} (√(c_ii c_jj) − c_ij) / Σ_{i<j} (√(c_ii c_jj) + c_ij)",
        "homophily that is independent of number and sizes of classes; c: shares of edge ends",
        range=_SIGNED,
        origin="Mironov and Prokhorenkova 2024",
        is_brief=False,
    ),
    Metric(
        "two_hop_homophily",
        "H_2",
        two_hop_homophily,
        "H_2 = share of walks u, w, v with u ≠ v and z_u = z_v",
        "how often two neighbours of a node are of one class",
        origin="two edges instead of one in H_edge",
        is_brief=False,
    ),
    Metric(
        "effective_homophily",
        "h_eff",
        effective_homophily,
        "h_eff = max over S of mean_v Σ_u S_vu [z_u = z_v] / Σ_u S_vu, S one or two of A, Aᵀ",
        "node homophily along the best choice of direction and one or two edges",
        origin="Rossi et al. 2023",
        is_brief=False,
    ),
    Metric(
        "neighbourhood_identifiability",
        "H_vN",
        neighbourhood_identifiability,
        "H_vN = Σ_k (n_k/N) (−1/log C) Σ_i σ_i log σ_i, σ of the neighbours' classes of class k",
        "0: the neighbourhoods of a class all look alike; 1: they have no pattern",
        origin="Chen et al. 2023",
        is_brief=False,
    ),
    Metric(
        "neighbourhood_contrast",
        "CCNS",
        neighbourhood_contrast,
        "mean_k s(k,k) − mean_{k≠l} s(k,l), s the mean cosine of the neighbours' classes",
        "how much more alike neighbourhoods are within classes than between them",
        range=_SIGNED,
        origin="from s of Ma et al. 2022",
        is_brief=False,
    ),
    Metric(
        "structural_homophily",
        "h_S",
        structural_homophily,
        "h_S = 1 − mean_k (mean spread of the neighbours' classes of class k) / largest spread",
        "how little neighbourhoods differ within a class",
        range=(-float("inf"), 1.0),
        origin="Zheng et al. 2024",
        is_brief=False,
    ),
    Metric(
        "generalized_edge_homophily",
        "H_GE",
        generalized_edge_homophily,
        "H_GE = mean over edges of cos(x_u, x_v)",
        "how alike the features at both ends of an edge are",
        needs="features",
        range=_SIGNED,
        origin="Jin et al. 2022",
        is_brief=False,
        is_linear=False,
    ),
    Metric(
        "feature_homophily",
        "h_F",
        feature_homophily,
        "h_F = mean over columns x of argmin_ω Σ_v ((x − ω A x/ρ)_v − its mean in the class of v)²",
        "how strongly features depend on the neighbours' beyond the class",
        needs="features",
        range=_SIGNED,
        origin="Zheng et al. 2024",
        is_brief=False,
        is_linear=False,
    ),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _TABLE}
"""Every metric by name; each is called with a graph."""

LINEAR: tuple[str, ...] = tuple(metric.name for metric in _TABLE if metric.is_linear)
"""The metrics whose cost is linear in the stored edges and features."""


@dataclass(frozen=True, slots=True)
class MetricValues:
    """Metrics of one graph: a value each, or None and the reason why it is undefined.

    ``reasons`` are sentences that name metric and graph, ``causes`` what is the same for several.
    """

    values: dict[str, float | None]
    reasons: dict[str, str]
    causes: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float | None:
        """Return one value by its name."""
        return lookup(self.values, "metric", name)


def compute_metrics(
    graph: GraphLike | LabelStatistics, *, names: Iterable[str] | None = None
) -> MetricValues:
    """Compute several metrics (by default :data:`LINEAR`) of one graph; edges are counted once.

    An undefined metric does not stop the others: its value is None, and ``reasons`` says why.
    Statistics that a collector delivered take the place of a graph for all label metrics.

    >>> from heterophily.data.graph import Graph
    >>> graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> result = compute_metrics(graph, names=["edge_homophily", "feature_similarity"])
    >>> result["edge_homophily"], result.reasons["feature_similarity"]
    (0.5, "feature similarity of 'graph' is undefined: the graph has no features")
    """
    counted = graph if isinstance(graph, LabelStatistics) else as_graph(graph)
    values: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    causes: dict[str, str] = {}
    for name in LINEAR if names is None else names:
        metric = lookup(METRICS, "metric", name)
        try:
            is_counted = isinstance(counted, LabelStatistics)
            if is_counted and metric.needs == "features" and not metric.is_linear:
                raise UndefinedError(
                    f"{metric.title} of {counted.name!r}", "features were not collected"
                )
            values[name] = metric(counted)
        except InputError as error:
            values[name], reasons[name] = None, str(error)
            causes[name] = error.why if isinstance(error, UndefinedError) else str(error)
    return MetricValues(values, reasons, causes)
