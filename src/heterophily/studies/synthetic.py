"""The studies on synthetic graphs: levels x graphs x models, declared as a value. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, paper_random_split
from heterophily.data.synthetic.degree_then_edges import degree_then_edges_graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.synthetic.features import Base
from heterophily.data.synthetic.regular import regular_graph
from heterophily.errors import InputError, lookup
from heterophily.paper.ranges import SYNTHETIC, search_range

# fmt: off
LEVELS = (
    0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.2, 0.22,
    0.25, 0.28, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.95,
)
# fmt: on
"""28 levels from 0.005 to 0.95 (section 3.2); the paper does not list them."""

METRICS = (
    "edge_homophily",
    "node_homophily",
    "class_homophily",
    "modified_aggregation_homophily",
)
"""The four panels of the figure."""

LINEAR_MODELS = ("mlp-1", "sgc-1", "acm-sgc-1")
DEEP_MODELS = ("mlp-2", "gcn", "acm-gcn")
SEARCHES = ("paper", "small")


@dataclass(frozen=True, kw_only=True)
class SyntheticStudy:
    """What is generated and trained. The defaults are those of the paper.

    Parameters
    ----------
    base
        Where the features come from: a name for :func:`open_base`.
    generator
        Name in :data:`GENERATORS`.
    models
        Names in the table of models that have a search range for synthetic graphs.
    levels
        Edge homophily levels, in (0, 1].
    graphs
        Number of graphs of each level.
    classes, nodes_per_class
        Size of each graph; 5 classes of 400 nodes in the paper.
    intra_degree
        Mean number of intra-class neighbours of a node, at every level: 2 (800 for the 400 nodes
        of a class), and 10 on regular graphs. The inter-class edges follow from the level.
    search
        ``"paper"``: all of the paper's search range. ``"small"``: first and middle value of each
        hyper-parameter, for a quick look.
    max_epochs
        Limit on epochs; stopping and selection of the epoch are the paper's.
    engine
        What trains: ``"auto"`` (the native engine where it covers the model), ``"native"`` or
        ``"torch"``. Their roundings differ, so each has records of its own.
    seed
        From which all graphs, splits and trainings follow.
    """

    base: str = "cora"
    generator: str = "edge-homophily"
    models: tuple[str, ...] = ("sgc-1", "gcn")
    levels: tuple[float, ...] = LEVELS
    graphs: int = 10
    classes: int = 5
    nodes_per_class: int = 400
    intra_degree: float = 2.0
    search: str = "paper"
    max_epochs: int = 5000
    engine: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every field once."""
        lookup(GENERATORS, "generator", self.generator)
        lookup(dict.fromkeys(SEARCHES), "search", self.search)
        for model in self.models:
            search_range(model, SYNTHETIC)
        if not self.levels or not self.models:
            raise InputError("a study needs at least one level and one model")
        for level in self.levels:
            if not 0.0 < level <= 1.0:
                raise InputError(f"level {level}; edge homophily levels lie in (0, 1]")
        for name, least in (("graphs", 1), ("classes", 2), ("nodes_per_class", 5), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name}={getattr(self, name)}; it must be at least {least}")

    def units(self) -> Iterator[Unit]:
        """Iterate over everything there is to train: a model on all trials of one graph."""
        for model, level, number in product(self.models, self.levels, range(self.graphs)):
            yield Unit(self, model, level, number)

    def describe(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Unit:
    """One model on one generated graph, with every hyper-parameter setting of the search."""

    study: SyntheticStudy
    model: str
    level: float
    graph: int

    def make_graph(self, base: Base) -> tuple[Graph, Split]:
        """Return the graph of this level and number, and its 60/20/20 split.

        They depend on seed, level and number, not on the model.
        """
        state = np.random.SeedSequence([self.study.seed, round(1e6 * self.level), self.graph])
        rng = np.random.default_rng(state)
        graph = GENERATORS[self.study.generator](self.study, self.level, base, rng)
        return graph, paper_random_split(graph.labels, rng=rng)


def quick(study: SyntheticStudy, *, levels: int | None, graphs: int | None) -> SyntheticStudy:
    """Return a study of fewer levels, evenly chosen with both ends, and fewer graphs.

    >>> quick(SyntheticStudy(), levels=7, graphs=3).levels
    (0.005, 0.04, 0.12, 0.25, 0.4, 0.6, 0.95)
    """
    if levels is not None:
        if not 1 <= levels <= len(study.levels):
            raise InputError(f"levels={levels}; choose 1 to {len(study.levels)}")
        places = np.round(np.linspace(0, len(study.levels) - 1, levels)).astype(int)
        study = replace(study, levels=tuple(study.levels[place] for place in places))
    return study if graphs is None else replace(study, graphs=graphs)


def trials(model: str, search: str) -> list[dict[str, Any]]:
    """Return the settings to try; linear models without a dropout range have no dropout.

    >>> trials("sgc-1", "small")
    [{'dropout': 0.0, 'lr': 0.05, 'weight_decay': 5e-05}, \
{'dropout': 0.0, 'lr': 0.05, 'weight_decay': 0.0005}]
    >>> len(trials("gcn", "paper"))
    25
    """
    ranges = {"dropout": [0.0], **search_range(model, SYNTHETIC)}
    if search == "small":
        ranges = {
            name: list(dict.fromkeys([values[0], values[len(values) // 2]]))
            for name, values in ranges.items()
        }
    return [dict(zip(ranges, values, strict=True)) for values in product(*ranges.values())]


def _degree_then_edges(
    study: SyntheticStudy, level: float, base: Base, rng: np.random.Generator
) -> Graph:
    return degree_then_edges_graph(
        homophily=level,
        mean_degree=study.intra_degree / level / 2,  # an edge counts at both of its ends
        features=base[0],
        labels=base[1],
        nodes_per_class=study.nodes_per_class,
        rng=rng,
    )


def _edge_homophily(
    study: SyntheticStudy, level: float, base: Base, rng: np.random.Generator
) -> Graph:
    nodes = study.classes * study.nodes_per_class
    return edge_homophily_graph(
        homophily=level,
        edges=round(nodes * study.intra_degree / level / 2),
        features=base[0],
        labels=base[1],
        nodes_per_class=study.nodes_per_class,
        rng=rng,
    )


def _regular(study: SyntheticStudy, level: float, base: Base, rng: np.random.Generator) -> Graph:
    return regular_graph(
        homophily=level,
        degree=round(study.intra_degree / level),
        features=base[0],
        labels=base[1],
        nodes_per_class=study.nodes_per_class,
        rng=rng,
    )


Generator = Callable[[SyntheticStudy, float, Base, np.random.Generator], Graph]
GENERATORS: Mapping[str, Generator] = {
    "degree-then-edges": _degree_then_edges,
    "edge-homophily": _edge_homophily,
    "regular": _regular,
}
"""The paper's text, the released program's variant (the default: the figures were made with it),
and the regular graphs of Proposition 1."""
