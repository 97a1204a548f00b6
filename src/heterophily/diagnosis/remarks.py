"""Remarks where a printed metric says something else than the verdict, or than the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heterophily.data.graph import Graph
from heterophily.data.wording import count
from heterophily.diagnosis.probe_columns import has_features
from heterophily.errors import InputError
from heterophily.metrics.aggregation_similarity import aggregation_similarity, feature_similarity
from heterophily.metrics.diversification_limits import alike_after_diversification

if TYPE_CHECKING:
    from heterophily.diagnosis.verdict import Verdict
    from heterophily.metrics.catalog import MetricValues

FEW_LABELS = 0.02
"""By so much may label informativeness exceed its corrected value without a remark."""

CLEAR = 0.01
"""Differences of similarities below this are no contradiction."""


def metric_remarks(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> list[str]:
    """Return a sentence for each printed metric that a reader could take for another verdict.

    Without the graph in memory, remarks that look at its edges or features are left out.
    """
    return [
        told
        for remark in (_bias, _similarity, _variant, _informative_but_little, _alike)
        if (told := remark(graph, metrics, verdict))
    ]


def _bias(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> str:
    """Label informativeness of few labelled edges is above zero by chance."""
    chance, value = verdict.evidence.chance, metrics.values.get("label_informativeness")
    if chance is None or value is None:
        return ""
    corrected = chance.informativeness.corrected
    if value - corrected < FEW_LABELS:
        return ""
    share = "mostly" if corrected < 0.5 * value else "partly"
    return (
        f"Label informativeness {value:.3f} is {share} chance with so few labelled edges "
        f"({chance.edges:,}): corrected it is {corrected:.3f}, and the verdict uses that."
    )


def _helps_by_average(verdict: Verdict) -> bool | None:
    """Whether averaging is better (True) or worse (False) than own features; None: neither."""
    average = verdict.evidence.average
    if average is None or not (average.is_better or average.is_worse):
        return None
    return average.is_better


def _similarity(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> str:
    """S_agg of ÂX and of X, against what classifiers find."""
    aggregated = metrics.values.get("aggregation_similarity")
    raw = metrics.values.get("feature_similarity")
    helps = _helps_by_average(verdict)
    if aggregated is None or raw is None or helps is None or abs(aggregated - raw) < CLEAR:
        return ""
    if (aggregated > raw) == helps:
        return ""
    return (
        f"S_agg(ÂX) {aggregated:.2f} {'>' if aggregated > raw else '<'} S_agg(X) {raw:.2f} "
        f"suggests that averaging {'helps' if aggregated > raw else 'harms'}, but classifiers "
        f"{'gain from it' if helps else 'lose by it'}; the verdict follows the classifiers."
    )


def _variant(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> str:
    """The paper's tables divide the rows of X by their sums, which may turn the comparison."""
    aggregated = metrics.values.get("aggregation_similarity")
    raw = metrics.values.get("feature_similarity")
    if aggregated is None or raw is None or graph is None or not has_features(graph):
        return ""
    features: Any = graph.features
    if features.min() < 0:  # rows that sum to 1 mean shares
        return ""
    options: dict[str, Any] = {"normalize_features": True, "zero_rows": "inconsistent"}
    try:
        scaled = aggregation_similarity(graph, **options)
        scaled_raw = feature_similarity(graph, **options)
    except InputError:
        return ""
    if (aggregated - raw) * (scaled - scaled_raw) >= 0:
        return ""
    return (
        f"S_agg(ÂX) {aggregated:.2f} and S_agg(X) {raw:.2f} are computed from the features as "
        f"given. With rows that sum to 1, as in the paper's tables, they are {scaled:.2f} and "
        f"{scaled_raw:.2f}: the order is reversed."
    )


def _alike(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> str:
    """The paper's limitation: classes that differ from their neighbours in the same way."""
    if graph is None or verdict.kind == "homophilic" or graph.num_classes < 3:
        return ""
    pairs = alike_after_diversification(graph)
    if not pairs:
        return ""
    names = graph.class_names or tuple(str(number) for number in range(graph.num_classes))
    first = pairs[0]
    more = f" (and {count(len(pairs) - 1, 'more pair')} of classes)" if len(pairs) > 1 else ""
    return (
        f"Diversification (the high-pass channel) cannot tell {names[first.first]} from "
        f"{names[first.second]}{more} by the classes around them: both have mostly "
        f"{names[first.shared]} around, so they differ from their neighbours in the same way. Only "
        "their features can separate them."
    )


def _informative_but_little(graph: Graph | None, metrics: MetricValues, verdict: Verdict) -> str:
    """Neighbours' classes tell something, but nothing that own features do not know."""
    if verdict.kind != "little" or not verdict.evidence.is_informative:
        return ""
    return (
        "Neighbours' classes tell something about a node's class, but nothing that its own "
        "features do not tell as well."
    )
