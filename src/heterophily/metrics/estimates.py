"""Metrics estimated from a part of the labels: mean, spread and a bootstrap interval."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heterophily.data.checks import UNLABELLED
from heterophily.data.graph import Graph
from heterophily.errors import InputError, UndefinedError, lookup
from heterophily.metrics.catalog import METRICS

LabelUse = Literal["training-only", "all-in-aggregation"]
_RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class MetricEstimate:
    """A metric over repeated draws of training labels."""

    values: NDArray[np.float64]  # (R,), one per draw
    interval: tuple[float, float]  # bootstrap interval of the mean over draws
    confidence: float

    @property
    def mean(self) -> float:
        """Mean over the draws."""
        return float(self.values.mean())

    @property
    def std(self) -> float:
        """Standard deviation over the draws (divisor R, as NumPy's default)."""
        return float(self.values.std())

    def __str__(self) -> str:
        """Return mean and spread."""
        return f"{self.mean:.4f} ± {self.std:.4f}"


def estimate(
    metric: str | Callable[..., float],
    graph: Graph,
    *,
    rng: np.random.Generator,
    share: float = 0.6,
    repeats: int = 10,
    label_use: LabelUse = "training-only",
    confidence: float = 0.95,
    **options: Any,
) -> MetricEstimate:
    """Estimate a metric from random subsets of the labels.

    Each draw keeps the labels of a uniform random ``share`` of the labelled nodes; Â and X stay
    those of the whole graph. Two conventions say what becomes of the other labels:

    - ``"training-only"``: they are unknown everywhere, as for a person who has only these labels.
    - ``"all-in-aggregation"``: they still enter ÂZ, and only the compared nodes are restricted.
      The paper's printed estimates of aggregation homophily fit this one. For metrics of features
      the two are equal; edge, node and class homophily know only the first.

    The interval is the percentile bootstrap of the mean over the draws. It tells how exactly the
    repeats pin the mean down; ``std`` tells how far one draw may lie from it.

    ``options`` go to the metric, which is a name of ``METRICS`` or such a function.

    >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], labels=[0, 0, 1, 1])
    >>> estimate("edge_homophily", graph, share=1.0, rng=np.random.default_rng(0)).mean
    0.5
    """
    compute = lookup(METRICS, "metric", metric).function if isinstance(metric, str) else metric
    _check(compute, share, repeats, label_use, confidence)
    labelled = np.flatnonzero(graph.is_labelled)
    if labelled.size == 0:
        raise UndefinedError(f"an estimate for {graph.name!r}", "no node has a label")
    size = min(max(round(share * labelled.size), 1), labelled.size)
    values = np.empty(repeats)
    for draw in range(repeats):
        mask = np.zeros(graph.num_nodes, np.bool_)
        mask[rng.permutation(labelled)[:size]] = True
        try:
            if label_use == "training-only":
                values[draw] = compute(_with_labels_of(graph, mask), **options)
            else:
                values[draw] = compute(graph, nodes=mask, **options)
        except InputError as error:
            raise InputError(
                f"draw {draw + 1} of {repeats} with {size} labels: {error}; use a larger share"
            ) from error
    means = values[rng.integers(0, repeats, (_RESAMPLES, repeats))].mean(axis=1)
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(means, [tail, 100.0 - tail])
    return MetricEstimate(values, (float(low), float(high)), confidence)


def _check(
    compute: Callable[..., float],
    share: float,
    repeats: int,
    label_use: str,
    confidence: float,
) -> None:
    if not 0.0 < share <= 1.0:
        raise InputError(f"share={share}; it must lie above 0 and at most at 1")
    if repeats < 1:
        raise InputError(f"repeats={repeats}; ask for at least one draw")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence={confidence}; it must lie between 0 and 1")
    if label_use not in get_args(LabelUse):
        choices = "' or '".join(get_args(LabelUse))
        raise InputError(f"label_use={label_use!r}; choose '{choices}'")
    if label_use == "all-in-aggregation" and "nodes" not in inspect.signature(compute).parameters:
        raise InputError(
            f"label_use='all-in-aggregation' is for metrics that compare nodes after filtering, "
            f"not for {getattr(compute, '__name__', compute)}"
        )


def _with_labels_of(graph: Graph, mask: NDArray[np.bool_]) -> Graph:
    """Return the graph with the labels outside the mask removed.

    The other parts were checked when the graph was made, so they are shared and not checked again:
    on a large graph that check costs more than the metric.
    """
    labels = np.where(mask, graph.labels, UNLABELLED)
    labels.setflags(write=False)
    masked = copy(graph)
    object.__setattr__(masked, "labels", labels)
    for cached in ("content_hash", "report"):
        masked.__dict__.pop(cached, None)
    return masked
