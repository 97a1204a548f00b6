"""What a training costs: a family declares it, a graph's size turns it into seconds and bytes.

The declared numbers are of one core of a common server; how fast this machine is follows from the
trainings that are finished.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

if TYPE_CHECKING:
    from heterophily.data.graph import Graph

USUAL_EPOCHS, MOST_EPOCHS = 200, 1000
"""A training by gradient steps usually ends after so many epochs, and in any case after these."""

FIRST_SECONDS, HASTE_SECONDS, HASTE_BELOW = 8.0, 2.0, 150.0
"""A family whose first training would take longer than this begins with fewer epochs; the second
number holds for a search with less than so many seconds of all workers together."""

HASTE_PART = 1 / 15
"""With so little time, the first chance of a family, on all splits that it needs, is to take no
more than this part of it."""

SHORTENED = (400, 200, 100, 60, 40)
"""To how many epochs (or rounds of trees) it is shortened; fewer than the last say little."""

_COLUMNS = 128  # of a block that trees see, at most
_WIDTH = 64  # hidden columns of the declared costs
_HOP = 0.7e-9  # seconds in which one number of a signal moves along one edge
_OUTCOME = 1e-7  # seconds for a node and class: votes are scored and kept


@dataclass(frozen=True, slots=True)
class WorkSize:
    """What the cost of a training depends on."""

    nodes: int
    edges: int
    features: int
    values: int  # that are stored in X
    classes: int

    @classmethod
    def of(cls, graph: Graph) -> WorkSize:
        """Measure a graph; without features every node has its own indicator."""
        features: Any = graph.features
        width = graph.num_features or graph.num_nodes
        if features is None or not graph.num_features:
            values = graph.num_nodes
        else:
            values = int(features.nnz if sp.issparse(features) else features.size)
        return cls(graph.num_nodes, int(graph.adjacency.nnz), width, values, graph.num_classes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """Milliseconds of one epoch with 64 hidden columns, and what it keeps in memory.

    Parameters
    ----------
    fixed
        On any graph.
    node, edge, value
        For a thousand nodes, a thousand stored edges, a thousand stored values of X.
    depth
        Layers that the numbers are for; more layers cost in proportion. 0: depth does not matter.
    class_edge
        For a thousand stored edges and each class: what travels are votes, not hidden columns.
    hops
        Over which votes travel once, when the training is done.
    edge_floats
        Numbers that are kept for each edge.
    """

    fixed: float = 1.0
    node: float = 0.0
    edge: float = 0.0
    value: float = 0.01
    depth: int = 0
    class_edge: float = 0.0
    hops: int = 0
    edge_floats: int = 2

    def epoch_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return the seconds of one epoch."""
        edge = self.edge + self.class_edge * size.classes
        by_size = self.node * size.nodes + edge * size.edges + self.value * size.values
        return 1e-3 * (self.fixed + 1e-3 * by_size * self._times(options))

    def once_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return the seconds before and after the epochs."""
        return self.hops * _HOP * size.edges * size.classes

    def gigabytes(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return what a training keeps in memory, roughly."""
        wide = _WIDTH * self._times(options)
        floats = 20.0 * wide * size.nodes + self.edge_floats * size.edges + 6.0 * size.values
        return 4e-9 * floats

    def epochs(self, options: Mapping[str, Any]) -> int:
        """Return after how many epochs a training usually ends."""
        return min(int(options.get("max_epochs", USUAL_EPOCHS)), USUAL_EPOCHS)

    def longest(self, options: Mapping[str, Any]) -> int:
        """Return after how many epochs a training ends in any case."""
        return int(options.get("max_epochs", MOST_EPOCHS))

    def _times(self, options: Mapping[str, Any]) -> float:
        layers = options.get("depth", self.depth) / self.depth if self.depth else 1.0
        return float(layers * options.get("hidden", _WIDTH) / _WIDTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreesCost:
    """Cost of boosted trees: every round of every class looks at every cell of the table."""

    blocks: int
    cell: float = 3e-9  # seconds, in a round for a class
    once: float = 150e-9  # seconds for a cell, to make the table

    def epoch_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return the seconds of one round."""
        return 0.002 + self.cell * self._cells(size) * self._trees(size) * _depth(options)

    def once_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return the seconds in which the table is made."""
        return self.once * self._cells(size)

    def gigabytes(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return what a training keeps in memory, roughly."""
        return 24e-9 * self._cells(size)

    def epochs(self, options: Mapping[str, Any]) -> int:
        """Return after how many rounds a training usually ends."""
        rounds = min(options.get("rounds", 500), options.get("max_epochs", 500))
        return int(min(rounds, 150))

    def longest(self, options: Mapping[str, Any]) -> int:
        """Return after how many rounds a training ends in any case."""
        return int(min(options.get("rounds", 500), options.get("max_epochs", 500)))

    def _cells(self, size: WorkSize) -> int:
        return size.nodes * (self.blocks * min(size.features, _COLUMNS) + 2)

    @staticmethod
    def _trees(size: WorkSize) -> int:
        return size.classes if size.classes > 2 else 1


def _depth(options: Mapping[str, Any]) -> float:
    return float(options.get("depth", 6)) / 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OnceCost:
    """Cost of what is computed once: the labels travel along the edges."""

    def epoch_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return the seconds of the single round: labels travel to be judged, and to vote."""
        return 0.02 + 2 * int(options.get("hops", 50)) * _HOP * size.edges * size.classes

    def once_seconds(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return 0: everything happens once."""
        return 0.0

    def gigabytes(self, size: WorkSize, options: Mapping[str, Any]) -> float:
        """Return what it keeps in memory, roughly."""
        return 4e-9 * (6 * size.nodes * size.classes + 2 * size.edges)

    def epochs(self, options: Mapping[str, Any]) -> int:
        """Return 1."""
        return 1

    longest = epochs


AnyCost = EpochCost | TreesCost | OnceCost


def seconds(cost: AnyCost, size: WorkSize, options: Mapping[str, Any]) -> float:
    """Return the expected seconds of one training on one core."""
    around = cost.once_seconds(size, options) + _OUTCOME * size.nodes * size.classes
    return around + cost.epochs(options) * cost.epoch_seconds(size, options)


def shortened(
    cost: AnyCost,
    size: WorkSize,
    options: Mapping[str, Any],
    *,
    total: float = math.inf,
    trainings: int = 1,
) -> int | None:
    """Return how many epochs the first trainings of a family may have; None: as many as it likes.

    ``total`` are the seconds of the search on all workers. Beyond two and a half minutes it does
    not matter, so that the same search with more time begins alike. With less, ``trainings``, the
    number of splits on which a family is first looked at, share a part of it, and a training
    that goes on for much longer than usual is cut off too.
    """
    each, is_hasty = cost.epoch_seconds(size, options), total < HASTE_BELOW
    most = min(HASTE_SECONDS, HASTE_PART * total / trainings) if is_hasty else FIRST_SECONDS
    most = max(0.0, most - cost.once_seconds(size, options))
    longest = cost.longest(options) if is_hasty else cost.epochs(options)
    if longest * each <= (2.0 * most if is_hasty else most):
        return None
    fitting = [count for count in SHORTENED if count * each <= most]
    found = fitting[0] if fitting else SHORTENED[-1]
    return found if found < longest else None


class Speed:
    """How much slower than declared trainings are here: learnt from those that are finished."""

    def __init__(self) -> None:
        self._ratios: dict[str, list[float]] = {}

    def report(self, family: str, *, expected: float, took: float) -> None:
        """Take in what a training was expected to take, and took."""
        if expected > 0 and took > 0:
            self._ratios.setdefault(family, []).append(took / expected)

    def factor(self, family: str) -> float:
        """Return the factor of a family; of one that was not trained yet, that of the others."""
        own = self._ratios.get(family)
        if own:
            return statistics.median(own)
        others = [math.log(ratio) for found in self._ratios.values() for ratio in found]
        return math.exp(statistics.median(others)) if others else 1.0
