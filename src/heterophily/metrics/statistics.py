"""Statistics of a labelled graph: what the formulas of the label metrics need.

In memory the metrics take a graph and count it themselves. A graph that memory cannot hold is
counted by a collector (:mod:`heterophily.metrics.collect`), which delivers the same numbers as one
small value; every label metric takes that value in place of a graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import UndefinedError
from heterophily.native.edges import EdgeTotals


@dataclass(frozen=True, eq=False)
class NeighbourhoodSums:
    """Sums over the labelled nodes that have labelled neighbours, by the class of the node.

    The shares s of a node are those of the classes among its labelled neighbours.
    """

    nodes: NDArray[np.int64]  # (C,): number of such nodes
    grams: NDArray[np.float64]  # (C, C, C): sum of the outer products of s with itself
    units: NDArray[np.float64]  # (C, C): sum of s / |s|
    spreads: NDArray[np.float64]  # (C, C): standard deviation of each share

    @classmethod
    def of_rows(
        cls, shares: NDArray[np.float64], labels: NDArray[np.int64], num_classes: int
    ) -> NeighbourhoodSums:
        """Sum over rows that are in memory: shares (n, C) and classes (n,)."""
        size = (num_classes, num_classes)
        grams, spreads, units = np.zeros((num_classes, *size)), np.zeros(size), np.zeros(size)
        for k in np.unique(labels):
            rows = shares[labels == k]
            grams[k], spreads[k] = rows.T @ rows, rows.std(axis=0)
        unit = shares / np.linalg.norm(shares, axis=1, keepdims=True)
        np.add.at(units, labels, unit)
        return cls(np.bincount(labels, minlength=num_classes), grams, units, spreads)


@dataclass(frozen=True, slots=True)
class SimilarityCounts:
    """Labelled nodes that aggregation similarity S_agg(ÂX), feature similarity S_agg(X) and
    diversification distinguishability count.
    """

    aggregated: int
    raw: int
    diversified: int


@dataclass(frozen=True, eq=False)
class LabelStatistics:
    """A labelled graph without loops and weights, reduced to what label metrics need.

    ``consistent`` are the nodes that aggregation homophily counts, and those that it compares.
    ``walks`` are the walks of two edges between labelled nodes whose ends have one label, and all
    of them; None: not counted. ``undefined`` says of further metrics why they are not there.
    """

    name: str
    is_directed: bool
    num_nodes: int
    num_edges: int
    class_names: tuple[str, ...]
    sizes: NDArray[np.int64]  # (C,): labelled nodes
    totals: EdgeTotals
    neighbourhoods: NeighbourhoodSums
    consistent: tuple[int, int]
    isolated: int
    walks: tuple[float, float] | None = None
    undefined: Mapping[str, str] = field(default_factory=dict)
    similarities: SimilarityCounts | None = None  # None: features were not collected

    @property
    def num_classes(self) -> int:
        """Number of classes C, those without a labelled node included."""
        return len(self.class_names)

    @property
    def class_pairs(self) -> NDArray[np.float64]:
        """Edges from class k to class l, (C, C); an undirected edge counts both ways."""
        return self.totals.class_pairs

    @cached_property
    def edge_ends(self) -> NDArray[np.float64]:
        """The same: there are no loops."""
        return self.totals.class_pairs

    @property
    def num_labelled(self) -> int:
        """Number of labelled nodes."""
        return int(self.sizes.sum())


def collected_share(counted: LabelStatistics, kind: str, metric: str) -> float:
    """Return the share of labelled nodes that a metric of features counts, as it was collected."""
    if counted.similarities is None:
        why = counted.undefined.get("similarities", "features were not collected")
        raise UndefinedError(f"{metric} of {counted.name!r}", why)
    if np.count_nonzero(counted.sizes) < 2:
        raise UndefinedError(
            f"{metric} of {counted.name!r}",
            "it compares classes, and every labelled node has the same class",
        )
    return float(getattr(counted.similarities, kind) / counted.num_labelled)
