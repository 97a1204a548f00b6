"""What ``auto`` tries: models by verdict, and the settings of each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from heterophily.errors import lookup
from heterophily.experiments.presets import RELEASED, Recipe
from heterophily.experiments.space import Space, recipe_of
from heterophily.filters.direction import EdgeDirection
from heterophily.layers.channel import resolve_channels
from heterophily.models.spec import ModelSpec
from heterophily.models.trees import TreesOptions
from heterophily.runs.model import spec_with
from heterophily.training.config import TrainConfig

SPACE = Space(
    "auto",
    {
        "lr": (0.002, 0.01, 0.05),
        "weight_decay": (5e-6, 5e-5, 5e-4, 5e-3),
        "dropout": (0.0, 0.2, 0.4, 0.6, 0.8),
    },
)
"""Settings of the ACM family and its backbones: 60, a coarse grid of the paper's ranges."""


@dataclass(frozen=True, eq=False)
class Family:
    """A model, what stays fixed while its settings are searched, and the settings.

    ``turn_of``: the same model with its edges both ways, when this one has them as given or
    reversed.
    """

    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    space: Space = SPACE
    title: str = ""
    turn_of: Family | None = None

    @property
    def label(self) -> str:
        """Name for tables: the title, or the model and what was changed in it; the direction."""
        shown = ["edge_direction"] if self.title else list(self.options)
        changes = ", ".join(f"{key}={self.options[key]}" for key in shown if key in self.options)
        name = self.title or self.model
        return f"{name} ({changes})" if changes else name


MLP, GCN = Family("mlp-2"), Family("gcn")
ACM, ACMII = Family("acm-gcn"), Family("acmii-gcn")
PLUS, PLUS_II = Family("acm-gcn+"), Family("acmii-gcn+")
RESIDUAL = Family("acm-gcn++", {"with_structure": False})
RESIDUAL_II = Family("acmii-gcn++", {"with_structure": False})
ALL, ALL_II = Family("acm-gcn++"), Family("acmii-gcn++")
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
    Space(
        "glognn, features",
        {
            "lr": (0.01,),
            "weight_decay": (5e-5, 1e-3),
            "dropout": (0.0, 0.5, 0.8),
            "gamma": (0.1, 0.5, 0.8),
            "hops": (2, 5),
        },
    ),
    title="glognn on X",
)
GLOBAL_STRUCTURE = Family(
    "glognn",
    {"alpha": 0.0, "gamma": 0.0, "delta": 0.0, "hops": 1, "select_by": "validation-accuracy"},
    Space(
        "glognn, structure",
        {"lr": (0.002, 0.01), "weight_decay": (5e-6, 5e-5, 5e-4), "dropout": (0.2, 0.5, 0.8)},
    ),
    title="glognn on A",
)
PAGERANK = Family(
    "gprgnn",
    {},
    Space(
        "gprgnn",
        {
            "lr": (0.01, 0.05),
            "weight_decay": (5e-5, 5e-4),
            "dropout": (0.4, 0.7),
            "alpha": (0.1, 0.5),
        },
    ),
)

TREE_SPACE = Space(
    "trees",
    {"depth": (2, 4, 8), "learning_rate": (0.02, 0.05, 0.1), "column_share": (0.3, 0.7)},
)
TREES, TREES_CHANNELS = Family("trees", {}, TREE_SPACE), Family("trees-channels", {}, TREE_SPACE)

FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "homophilic": (ACM, ACMII, RESIDUAL, RESIDUAL_II, GCN, GLOBAL, PAGERANK, TREES_CHANNELS),
    "harmless": (PLUS, PLUS_II, ALL, ALL_II, ACM, GLOBAL_STRUCTURE, TREES_CHANNELS),
    "harmful": (ACM, TREES_CHANNELS, TREES, ACMII, RESIDUAL, RESIDUAL_II, PLUS, PLUS_II, MLP),
    "little": (
        *(ACM, TREES, MLP, TREES_CHANNELS, ACMII, RESIDUAL, PLUS, ALL_II, GLOBAL),
        GLOBAL_STRUCTURE,
    ),
    "too-few": (
        *(ACM, TREES, MLP, GCN, TREES_CHANNELS, PLUS, RESIDUAL, GLOBAL, GLOBAL_STRUCTURE),
        PAGERANK,
    ),
}
"""Verdict of the diagnosis -> models to try. Written with the paper's tables and the accuracies of
``results/zoo-fixed-splits`` in view, those on test nodes too: A itself as a channel (+ and ++)
where the graph helps without being homophilic, the residual elsewhere, and models that err on other
nodes than ours. Trees on ACM's channels of the features are tried under every verdict. A verdict
that the graph adds little, or that it cannot be told, leaves out no kind
of model: without a graph, with neighbours' features, with A itself."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model with one setting."""

    family: Family
    settings: Mapping[str, Any]

    @property
    def model(self) -> str:
        """Name in the table of models."""
        return self.family.model

    @property
    def options(self) -> Mapping[str, Any]:
        """Options that differ from the named model: searched, fixed, and the released program's."""
        return self._recipe.options

    @property
    def config(self) -> TrainConfig:
        """How it is trained."""
        return self._recipe.config

    @cached_property
    def spec(self) -> ModelSpec:
        """The model as a value."""
        return spec_with(self.model, self.options)

    @cached_property
    def _recipe(self) -> Recipe:
        settings = {**self.family.options, **self.settings}
        return recipe_of(settings, self.model, "", RELEASED)


def families_for(
    kind: str, *, inductive: bool = False, one_way: bool = False
) -> tuple[Family, ...]:
    """Return the models to try under a verdict; ``inductive`` leaves out weights of nodes.

    With ``one_way`` edges each model that uses edges comes with them both ways, as in the paper, as
    given, and reversed; a model with its edges turned is a family of its own.

    >>> [family.label for family in families_for("homophilic")][:2]
    ['acm-gcn', 'acmii-gcn']
    >>> [family.label for family in families_for("homophilic", one_way=True)][8]
    'acm-gcn (edge_direction=given)'
    """
    found = lookup(FAMILIES, "verdict", kind)
    if inductive:
        found = _without_node_weights(found)
    if not one_way:
        return found
    bases = [_turned(family, "both") if _uses_edges(family) else family for family in found]
    turnable = [family for family in bases if "edge_direction" in family.options]
    ways: tuple[EdgeDirection, ...] = ("given", "reversed")
    return (*bases, *(_turned(base, way, turn_of=base) for way in ways for base in turnable))


def _uses_edges(family: Family) -> bool:
    options = Candidate(family, {}).spec.options
    if isinstance(options, TreesOptions):
        return options.columns != ("own",)
    channels = getattr(options, "layer_channels", ("low",))
    return any(c.filter.aggregate or c.source == "structure" for c in resolve_channels(channels))


def _turned(family: Family, way: EdgeDirection, *, turn_of: Family | None = None) -> Family:
    options = {**family.options, "edge_direction": way}
    return replace(family, options=options, turn_of=turn_of)


def _without_node_weights(found: Sequence[Family]) -> tuple[Family, ...]:
    different: dict[ModelSpec, Family] = {}  # without A, the released acm-gcn+ is acm-gcn
    for family in found:
        plain = replace(family, options={**family.options, "with_structure": False})
        usable = plain if has_structure(family) else family
        if not has_node_weights(usable):
            different.setdefault(Candidate(usable, {}).spec, usable)
    return tuple(different.values())


def has_structure(family: Family) -> bool:
    """Whether a family has the structure channel, which can be switched off."""
    return bool(getattr(Candidate(family, {}).spec.options, "with_structure", False))


def has_node_weights(family: Family) -> bool:
    """Whether weights belong to nodes: their shapes change with one node more."""
    spec = Candidate(family, {}).spec
    few, more = (
        [p.shape for p in spec.build(num_nodes=n, num_features=2, num_classes=2).parameters()]
        for n in (3, 4)
    )
    return few != more


def middle(space: Space) -> dict[str, Any]:
    """Return the setting in the middle of all ranges: the first that is tried.

    >>> middle(SPACE)
    {'lr': 0.01, 'weight_decay': 0.0005, 'dropout': 0.4}
    """
    return {key: values[len(values) // 2] for key, values in space.values.items()}


def draw(families: Sequence[Family], *, seed: int) -> dict[Family, Iterator[Candidate]]:
    """Return for each family its candidates, each setting once: the middle one, then at random.

    >>> next(draw([ACM], seed=0)[ACM]).settings
    {'lr': 0.01, 'weight_decay': 0.0005, 'dropout': 0.4}
    """
    random_order = random.Random(seed)
    found: dict[Family, Iterator[Candidate]] = {}
    for family in families:
        settings, first = list(family.space), middle(family.space)
        random_order.shuffle(settings)
        settings.remove(first)
        found[family] = map(partial(Candidate, family), [first, *settings])
    return found
