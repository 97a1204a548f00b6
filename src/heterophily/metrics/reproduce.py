"""The metric tables of the paper, computed again: ours, theirs and the formula as written."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import UnknownNameError
from heterophily.metrics.aggregation_homophily import aggregation_homophily_flags
from heterophily.metrics.catalog import METRICS
from heterophily.metrics.estimates import estimate
from heterophily.metrics.variants import (
    CLEAN,
    DATASETS,
    LOOPS_KEPT,
    GraphVariant,
    Variant,
    estimate_variant,
    paper_variant,
)

Load = Callable[[str, GraphVariant], Graph]
_H_AGG = ("aggregation_homophily", "modified_aggregation_homophily")
_TIED = {
    "film": "the printed value fits the second",
    "pubmed": "the printed value lies between, as when single-precision rounding decides each tie",
    "deezer-europe": (
        "the printed value lies between; no rule tried, single-precision rounding included, gives "
        "it exactly"
    ),
}


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One printed value beside ours."""

    metric: str
    dataset: str
    published: float
    ours: float  # with the variant that the printed table was computed with
    as_written: float  # the formula, on the undirected graph without loops
    note: str | None = None

    @property
    def difference(self) -> float:
        """Ours minus theirs."""
        return self.ours - self.published

    @property
    def agrees(self) -> bool:
        """Whether the two are equal to four decimals."""
        return f"{self.ours:.4f}" == f"{self.published:.4f}"


@dataclass(frozen=True, slots=True)
class EstimateComparison:
    """One printed estimate (mean and standard deviation over ten draws) beside ours."""

    metric: str
    dataset: str
    published_mean: float
    published_std: float
    mean: float  # the paper's convention: all labels enter ÂZ, compared nodes are restricted
    std: float
    interval: tuple[float, float]
    training_only: float  # mean when no other label is used at all

    @property
    def difference(self) -> float:
        """Ours minus theirs."""
        return self.mean - self.published_mean

    @property
    def is_within_spread(self) -> bool:
        """Whether our mean lies within one printed standard deviation of the printed mean."""
        return abs(self.difference) <= self.published_std

    @property
    def note(self) -> str | None:
        """An explanation when it does not."""
        if self.is_within_spread:
            return None
        errors = abs(self.difference) / max(float(np.hypot(self.published_std, self.std)), 1e-12)
        return (
            f"{self.dataset}, {self.metric}: {errors:.1f} standard deviations of the difference of "
            "two draws apart; both means rest on ten random draws"
        )


@cache
def published_tables() -> dict[str, Any]:
    """Return the tables as printed: ``statistics``, ``additional`` and ``estimates``."""
    return tomllib.loads((files("heterophily.metrics") / "published.toml").read_text("utf-8"))


def check_datasets(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the chosen datasets of the paper, in its order; by default all ten."""
    if names is None:
        return DATASETS
    chosen = set(names)
    for name in sorted(chosen - set(DATASETS)):
        raise UnknownNameError(
            f"dataset {name!r} is not in the paper's tables; choose from {', '.join(DATASETS)}"
        )
    return tuple(name for name in DATASETS if name in chosen)


def compare_values(
    datasets: Iterable[str] | None = None, *, data_folder: str | Path | None = None
) -> Iterator[MetricComparison]:
    """Compute both metric tables again, dataset by dataset, with the variants that match."""
    load = _loader(data_folder)
    for dataset in check_datasets(datasets):
        graphs = _Graphs(load, dataset)
        for metric, published in _printed(dataset, "statistics", "additional"):
            variant = paper_variant(metric, dataset)
            yield MetricComparison(
                metric=metric,
                dataset=dataset,
                published=published,
                ours=_value(metric, variant, graphs[variant.graph]),
                as_written=METRICS[metric](graphs[CLEAN]),
                note=_tie_note(dataset, graphs) if metric in _H_AGG else None,
            )


def compare_estimates(
    datasets: Iterable[str] | None = None,
    *,
    data_folder: str | Path | None = None,
    seed: int = 0,
    repeats: int = 10,
) -> Iterator[EstimateComparison]:
    """Compute the estimates from 60 % of the labels again, ten draws each."""
    load = _loader(data_folder)
    for dataset in check_datasets(datasets):
        graphs = _Graphs(load, dataset)
        for metric, (mean, std) in _printed(dataset, "estimates"):
            variant = estimate_variant(metric, dataset)
            graph, options = graphs[variant.graph], dict(variant.options)
            ours, honest = (
                estimate(
                    metric,
                    graph,
                    rng=np.random.default_rng(seed),
                    repeats=repeats,
                    label_use=label_use,
                    **options,
                )
                for label_use in ("all-in-aggregation", "training-only")
            )
            yield EstimateComparison(
                metric, dataset, mean, std, ours.mean, ours.std, ours.interval, honest.mean
            )


class _Graphs:
    """The variants of one dataset, each read once."""

    def __init__(self, load: Load, dataset: str) -> None:
        self._load, self._dataset = load, dataset
        self._read: dict[GraphVariant, Graph] = {}

    def __getitem__(self, variant: GraphVariant) -> Graph:
        if variant not in self._read:
            self._read[variant] = self._load(self._dataset, variant)
        return self._read[variant]


def _loader(data_folder: str | Path | None) -> Load:
    from heterophily.data import catalog

    def load(dataset: str, variant: GraphVariant) -> Graph:
        graph: Graph = catalog.load(
            dataset,
            data_folder=None if data_folder is None else Path(data_folder),
            direction=variant.direction,
            self_loops=variant.self_loops,
            fill_unlabelled=variant.fill_unlabelled,
        )
        return graph

    return load


def _printed(dataset: str, *tables: str) -> Iterator[tuple[str, Any]]:
    """Iterate over the metrics printed for a dataset and their printed values."""
    for table in (published_tables()[name] for name in tables):
        if dataset in table["datasets"]:
            column = table["datasets"].index(dataset)
            yield from ((name, row[column]) for name, row in table.items() if name != "datasets")


def _value(metric: str, variant: Variant, graph: Graph) -> float:
    if variant.from_rounded:
        rounded = round(METRICS["aggregation_homophily"](graph, **variant.options), 4)
        return max(2.0 * rounded - 1.0, 0.0)
    return METRICS[metric](graph, **variant.options)


def _tie_note(dataset: str, graphs: _Graphs) -> str | None:
    """Say how ties explain the value, for the three datasets on which they do."""
    if dataset not in _TIED:
        return None
    graph = graphs[LOOPS_KEPT]
    most = aggregation_homophily_flags(graph, ties="consistent")
    least = aggregation_homophily_flags(graph, ties="inconsistent")
    ties = int(most.sum() - least.sum())
    low, high = least.mean(), most.mean()
    note = (
        f"{dataset}: {ties:,} nodes tie exactly; H_agg is {high:.4f} with ties counted as "
        f"consistent, as Definition 1 says, and {low:.4f} without them"
    )
    return f"{note}; {_TIED[dataset]}"
