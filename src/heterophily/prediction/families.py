"""The families that ``auto`` chooses from: a model, what is fixed in it, its settings, its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heterophily.prediction import portfolios
from heterophily.prediction.cost import AnyCost, EpochCost, OnceCost, TreesCost
from heterophily.prediction.portfolios import Portfolio


@dataclass(frozen=True, eq=False)
class Family:
    """A model, what stays fixed while its settings are searched, and the settings.

    Parameters
    ----------
    model, options
        Name in the table of models; options that are the same for all settings.
    portfolio
        The settings, in the order in which they are tried.
    cost
        What a training costs.
    title
        Name for tables; by default the model and what was changed in it.
    kind
        What it sees; in the first round every kind has its turn before a second of the same kind.
    is_scout
        On a graph with one-way edges, whether it tries the directions for the other families.
    turn_of
        The same family with its edges both ways, when this one has them as given or reversed.
    """

    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    portfolio: Portfolio = portfolios.PAPER
    cost: AnyCost = field(default_factory=EpochCost)
    title: str = ""
    kind: str = "neighbours"
    is_scout: bool = False
    turn_of: Family | None = None

    @property
    def label(self) -> str:
        """Name for tables: the title, or the model and what was changed in it; the direction."""
        shown = ["edge_direction"] if self.title else list(self.options)
        changes = ", ".join(f"{key}={self.options[key]}" for key in shown if key in self.options)
        name = self.title or self.model
        return f"{name} ({changes})" if changes else name


_NO_STRUCTURE = {"with_structure": False}
_MLP = EpochCost(fixed=0.5, node=0.6)
_GCN = EpochCost(fixed=0.5, node=0.8, edge=0.01)
_ACM = EpochCost(fixed=1.0, node=1.4, edge=0.01)
_PLUS = EpochCost(fixed=1.5, node=2.0, edge=0.02)
_STACK = EpochCost(fixed=6.0, node=4.5, edge=0.03, depth=3)
_DIRECTED = EpochCost(fixed=9.0, node=8.0, edge=0.06, depth=3)

MLP = Family("mlp-2", cost=_MLP, kind="own")
RAW_MLP = Family("mlp-2", {"row_normalize": False}, cost=_MLP, title="mlp-2 on raw X", kind="own")

ACM = Family("acm-gcn", cost=_ACM, is_scout=True)
ACMII = Family("acmii-gcn", cost=_ACM)
RAW = Family("acm-gcn", {"row_normalize": False}, cost=_ACM, title="acm-gcn on raw X")
RESIDUAL = Family("acm-gcn++", _NO_STRUCTURE, cost=_ACM)
RESIDUAL_II = Family("acmii-gcn++", _NO_STRUCTURE, cost=_ACM)
GCN = Family("gcn", cost=_GCN)

PLUS = Family("acm-gcn+", cost=_PLUS, kind="structure", is_scout=True)
PLUS_II = Family("acmii-gcn+", cost=_PLUS, kind="structure")
ALL = Family("acm-gcn++", cost=_PLUS, kind="structure")
ALL_II = Family("acmii-gcn++", cost=_PLUS, kind="structure")
LINKX = Family(
    "linkx",
    {},
    portfolios.STRUCTURE,
    EpochCost(fixed=4.0, node=2.0, edge=0.02),
    kind="structure",
)
GLOBAL_STRUCTURE = Family(
    "glognn",
    {"alpha": 0.0, "gamma": 0.0, "delta": 0.0, "hops": 1, "select_by": "validation-accuracy"},
    portfolios.GLOBAL_STRUCTURE,
    EpochCost(fixed=6.0, node=2.2, edge=0.015),
    title="glognn on A",
    kind="structure",
)
GLOBAL_RAW = Family(
    "glognn",
    {"row_normalize": False},
    portfolios.GLOBAL_STRUCTURE,
    EpochCost(fixed=6.0, node=2.8, edge=0.025),
    title="glognn on A and raw X",
    kind="structure",
)

GLOBAL = Family(
    "glognn",
    {
        "alpha": 0.0,
        "beta": 1000.0,
        "delta": 1.0,
        "input_dropout": 0.0,
        "normalization": "random-walk",
        "normalize_structure": True,
    },
    portfolios.GLOBAL_FEATURES,
    EpochCost(fixed=6.0, node=2.5, edge=0.06),
    title="glognn on X",
    kind="hops",
)
PAGERANK = Family(
    "gprgnn", {}, portfolios.PAGERANK, EpochCost(fixed=5.0, node=2.5, class_edge=0.013), kind="hops"
)
FREQUENCY = Family(
    "fagcn", {}, portfolios.FREQUENCY, EpochCost(fixed=6.0, node=3.0, edge=0.12), kind="hops"
)
FILTERED = Family(
    "fsgnn", {}, portfolios.FILTERED, EpochCost(fixed=4.0, node=8.0, value=0.2), kind="hops"
)

STACK_SAGE = Family("res-sage", {}, portfolios.STACKS, _STACK, kind="stack")
STACK_BATCH = Family(
    "res-sage",
    {"norm": "batch"},
    portfolios.STACKS,
    EpochCost(fixed=9.0, node=7.0, edge=0.03, depth=3),
    title="res-sage, batch norm",
    kind="stack",
)
STACK_ACM = Family(
    "res-acm",
    {},
    portfolios.STACKS,
    EpochCost(fixed=10.0, node=9.0, edge=0.05, depth=3),
    kind="stack",
)
STACK_GCN = Family("res-gcn", {}, portfolios.STACKS, _STACK, kind="stack")
ATTENTION = Family(
    "gat-sep",
    {},
    portfolios.STACKS,
    EpochCost(fixed=10.0, node=12.0, edge=0.6, depth=3, edge_floats=150),
    kind="stack",
)
DIRECTED = tuple(
    Family(model, {}, portfolios.STACKS, _DIRECTED, kind="directed")
    for model in ("dir-sage", "dir-acm", "dir-gcn")
)

TREES = Family("trees", {}, portfolios.TREES, TreesCost(blocks=1), kind="own")
_COLUMNS = {"columns": ("own", "low", "high", "low-2", "degree", "neighbour-degree")}
TREES_LABELS = Family(
    "trees-labels",
    _COLUMNS,
    portfolios.TREES,
    TreesCost(blocks=4),
    title="trees-labels",
    kind="trees",
    is_scout=True,
)
TREES_CHANNELS = Family(
    "trees-channels",
    _COLUMNS,
    portfolios.TREES,
    TreesCost(blocks=4),
    title="trees-channels",
    kind="trees",
)
PROPAGATION = Family("label-propagation", {}, portfolios.LABELS, OnceCost(), kind="labels")
CORRECTED = Family(
    "correct-and-smooth",
    {},
    portfolios.CORRECTED,
    EpochCost(fixed=5.0, node=2.0, value=0.02, hops=200),
    kind="labels",
)

TYPED = (
    Family(
        "typed-trees",
        _COLUMNS,
        portfolios.TREES,
        TreesCost(blocks=6),
        title="typed-trees",
        kind="types",
    ),
    Family("typed-acm", cost=EpochCost(fixed=6.0, node=6.0, edge=0.06), kind="types"),
)
"""For graphs whose edges have types."""

FAMILIES: tuple[Family, ...] = (
    *(TREES, MLP, RAW_MLP, TREES_LABELS, TREES_CHANNELS, PROPAGATION, CORRECTED),
    *(ACM, GCN, RAW, RESIDUAL, ACMII, RESIDUAL_II, PLUS, LINKX, ALL_II, GLOBAL_STRUCTURE),
    *(PLUS_II, ALL, GLOBAL_RAW, GLOBAL, PAGERANK, FILTERED, FREQUENCY),
    *(STACK_SAGE, STACK_BATCH, STACK_ACM, STACK_GCN, ATTENTION),
)
"""Every family that has its chance on every graph, whatever the verdict, the most telling of each
kind first; on a graph with one-way edges also those of :data:`DIRECTED`, with types of edges those
of :data:`TYPED`."""

EXPECTED: Mapping[str, tuple[Family, ...]] = {
    "homophilic": (
        TREES_LABELS,
        ACM,
        ACMII,
        RESIDUAL,
        GCN,
        GLOBAL,
        PAGERANK,
        PROPAGATION,
        CORRECTED,
        STACK_SAGE,
    ),
    "harmless": (TREES_LABELS, PLUS, PLUS_II, ALL, ALL_II, GLOBAL_STRUCTURE, LINKX, STACK_SAGE),
    "harmful": (TREES, TREES_LABELS, MLP, ACM, RESIDUAL, PLUS_II, STACK_ACM, ATTENTION),
    "little": (TREES, MLP, ACM, TREES_LABELS, RESIDUAL),
    "too-few": (),
}
"""Verdict of the diagnosis -> the families that come earlier in the first round. None is left out
by a verdict."""

FAVOURITES: Mapping[tuple[str, str], tuple[Family, ...]] = {
    ("homophilic", "labels"): (PROPAGATION, TREES_LABELS, ACM),
    ("homophilic", ""): (ACM, PROPAGATION),
    ("harmless", "labels"): (TREES_LABELS, PLUS),
    ("harmless", "structure"): (PLUS, TREES_LABELS),
    ("harmless", ""): (ACM, TREES_CHANNELS),
    ("harmful", "labels"): (TREES_LABELS, PLUS),
    ("harmful", "structure"): (PLUS, TREES_LABELS),
    ("harmful", ""): (TREES, ACM),
    ("little", ""): (TREES, MLP),
    ("too-few", ""): (),
}
"""(verdict, the source from the graph that adds most to own features) -> the families that open the
search; "" is for all other sources, and for none. They are the first because there may be no time
for a second."""
