"""A metric as a value: a function of a graph, and what every table needs to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from heterophily.data.graph import Graph
from heterophily.metrics.statistics import LabelStatistics


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that describes a graph with labels; call it like the function behind it.

    Parameters
    ----------
    name
        Full name, words joined by underscores.
    symbol
        As papers write it.
    function
        ``function(graph, **options)`` gives the value, or an ``InputError`` that says why it is
        undefined.
    formula, words
        The formula in plain text, and what it says.
    needs
        ``"labels"``, or ``"features"`` for those that look at features beside labels.
    range
        Smallest and largest possible value.
    origin
        The paper it comes from.
    is_brief
        Whether it stands in the short table on a terminal; pages and JSON show all.
    is_linear
        Whether its cost is linear in the stored edges and features; the others are computed only
        when they are named.
    """

    name: str
    symbol: str
    function: Callable[..., float]
    formula: str
    words: str
    needs: Literal["labels", "features"] = "labels"
    range: tuple[float, float] = (0.0, 1.0)
    origin: str = "the paper"
    is_brief: bool = True
    is_linear: bool = True

    def __call__(self, graph: Graph | LabelStatistics, **options: Any) -> float:
        """Return the value for a graph, or from its statistics."""
        return self.function(graph, **options)

    @property
    def title(self) -> str:
        """The name for people.

        >>> from heterophily.metrics.catalog import METRICS
        >>> METRICS["edge_homophily"].title
        'edge homophily'
        """
        return self.name.replace("_", " ")
