"""What ``auto`` tries: models by verdict, and the settings of each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from heterophily.errors import lookup
from heterophily.experiments.presets import RELEASED, Recipe
from heterophily.experiments.space import Space, recipe_of
from heterophily.experiments.train import spec_with
from heterophily.models.spec import ModelSpec
from heterophily.training.config import TrainConfig

SPACE = Space(
    "auto",
    {
        "lr": (0.002, 0.01, 0.05),
        "weight_decay": (5e-6, 5e-5, 5e-4, 5e-3),
        "dropout": (0.0, 0.2, 0.4, 0.6, 0.8),
    },
)
"""Settings of every model: 60, a coarse grid of the paper's ranges."""


@dataclass(frozen=True)
class Family:
    """A model and the options that stay fixed while its settings are searched."""

    model: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name for tables: the model, and what was changed in it."""
        changes = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.model} ({changes})" if changes else self.model


MLP, GCN = Family("mlp-2"), Family("gcn")
ACM, ACMII = Family("acm-gcn"), Family("acmii-gcn")
PLUS, PLUS_II = Family("acm-gcn+"), Family("acmii-gcn+")
RESIDUAL = Family("acm-gcn++", {"with_structure": False})
RESIDUAL_II = Family("acmii-gcn++", {"with_structure": False})
ALL, ALL_II = Family("acm-gcn++"), Family("acmii-gcn++")

FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "homophilic": (ACM, ACMII, RESIDUAL, RESIDUAL_II, GCN),
    "harmless": (PLUS, PLUS_II, ALL, ALL_II, ACM),
    "harmful": (ACM, ACMII, RESIDUAL, RESIDUAL_II, PLUS, PLUS_II, MLP),
    "little": (ACM, ACMII, RESIDUAL, RESIDUAL_II, MLP),
}
"""Verdict of the diagnosis -> models to try. Written with the paper's tables in view: A itself as a
channel (+ and ++) where the graph helps without being homophilic, the residual elsewhere."""


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


def families_for(kind: str, *, inductive: bool = False) -> tuple[Family, ...]:
    """Return the models to try under a verdict; ``inductive`` leaves out A as a channel.

    >>> [family.label for family in families_for("homophilic")][:2]
    ['acm-gcn', 'acmii-gcn']
    """
    found = lookup(FAMILIES, "verdict", kind)
    if not inductive:
        return found
    different: dict[ModelSpec, Family] = {}  # without A, the released acm-gcn+ is acm-gcn
    for family in found:
        changes = {"with_structure": False} if has_structure(family) else {}
        plain = Family(family.model, {**family.options, **changes})
        different.setdefault(Candidate(plain, {}).spec, plain)
    return tuple(different.values())


def has_structure(family: Family) -> bool:
    """Whether a family has the structure channel, whose weights belong to nodes."""
    options = spec_with(family.model, family.options).options
    return bool(getattr(options, "with_structure", False))


def draw(families: Sequence[Family], *, seed: int, space: Space = SPACE) -> Iterator[Candidate]:
    """Yield candidates, one family after the other, each setting once, in random order."""
    random_order = random.Random(seed)
    orders = []
    for _ in families:
        settings = list(space)
        random_order.shuffle(settings)
        orders.append(settings)
    for round_of in zip(*orders, strict=True):
        yield from itertools.starmap(Candidate, zip(families, round_of, strict=True))
