"""What ``auto`` tries on a graph: its families in order, and the candidates of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from heterophily.errors import lookup
from heterophily.filters.direction import EdgeDirection
from heterophily.layers.channel import resolve_channels
from heterophily.layers.feature_scaling import FeatureKind
from heterophily.models.residual import DirectedNetwork, ResidualNetwork
from heterophily.models.spec import ModelSpec
from heterophily.models.trees import TreesOptions
from heterophily.paper.presets import RELEASED, Recipe
from heterophily.prediction.cost import MOST_EPOCHS, WorkSize, seconds, shortened
from heterophily.prediction.families import (
    DIRECTED,
    EXPECTED,
    FAMILIES,
    FAVOURITES,
    MLP,
    TREES,
    TYPED,
    Family,
)
from heterophily.runs.model import spec_with
from heterophily.search.space import recipe_of
from heterophily.training.config import TrainConfig

CONFIG: Mapping[str, Any] = {"stopping": "patience", "window": 100, "max_epochs": MOST_EPOCHS}
"""Where auto departs from the paper's protocol: a training ends 100 epochs after its lowest
validation loss, for time."""

LATER = 3.0
"""In the first round a family waits this many times longer when the verdict does not expect it to
be good."""

SOONER, FAVOURITE = 0.5, 2
"""The first two that a verdict names wait half as long as the others that it names."""

LONGEST_FIRST = 0.5
"""A favourite whose first training would take more than this share of the time is not the first."""

_WAYS: tuple[EdgeDirection, ...] = ("given", "reversed")


@dataclass(frozen=True, eq=False)
class Candidate:
    """One family with one setting."""

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
        settings = {**CONFIG, **self.family.options, **self.settings}
        return recipe_of(settings, self.model, "", RELEASED)

    def seconds(self, size: WorkSize) -> float:
        """Return the declared seconds of one training on one core."""
        return seconds(self.family.cost, size, {**self.family.options, **self.settings})

    def gigabytes(self, size: WorkSize) -> float:
        """Return the declared memory of one training."""
        return self.family.cost.gigabytes(size, {**self.family.options, **self.settings})


def families_for(
    *,
    inductive: bool = False,
    one_way: bool = False,
    features: FeatureKind = "counts",
    has_features: bool = True,
    has_edges: bool = True,
    has_types: bool = False,
) -> tuple[Family, ...]:
    """Return the families that have their chance on a graph.

    Parameters
    ----------
    inductive
        Leave out models whose weights or labels belong to nodes.
    one_way
        Add the models that see both directions apart; the scouts come with their edges both ways,
        as given, and reversed, each a family of its own.
    features, has_features
        Models on raw counts differ from the others only where features are counts. Without
        features, models that see nothing else are left out: they would guess.
    has_edges
        Without edges, models of a graph are left out.
    has_types
        Add the models that see edges of each type apart.

    >>> [family.label for family in families_for()][:3]
    ['trees', 'mlp-2', 'mlp-2 on raw X']
    >>> len(families_for(has_features=False)) < len(families_for())
    True
    """
    found: tuple[Family, ...] = (*FAMILIES, *TYPED) if has_types else FAMILIES
    if not has_features:
        found = tuple(family for family in found if uses_edges(family))
    if not has_edges:
        found = tuple(family for family in found if not uses_edges(family))
    if features != "counts" or not has_features:
        found = tuple(family for family in found if "row_normalize" not in family.options)
    if one_way:
        found = (*found, *DIRECTED)
    if inductive:
        found = _without_node_weights(found)
    if not one_way:
        return found
    bases = [turned_family(f, "both") if can_turn(f) else f for f in found]
    scouts = [family for family in bases if family.is_scout]
    return (*bases, *(turned_family(base, way) for way in _WAYS for base in scouts))


def turned_family(family: Family, way: EdgeDirection) -> Family:
    """Return a family with its edges turned; what is turned remembers its base."""
    options = {**family.options, "edge_direction": way}
    is_turned = family.options.get("edge_direction", way) != way
    return replace(family, options=options, turn_of=family if is_turned else None)


def uses_edges(family: Family) -> bool:
    """Whether a model sees edges at all."""
    spec = Candidate(family, {}).spec
    options = spec.options
    if isinstance(options, TreesOptions):
        return options.columns != ("own",)
    if issubclass(spec.network, ResidualNetwork):
        return True
    channels = getattr(options, "layer_channels", ()) or ("low",)
    return any(c.filter.aggregate or c.source == "structure" for c in resolve_channels(channels))


def can_turn(family: Family) -> bool:
    """Whether a model sees its edges one way at a time."""
    sees_both = issubclass(Candidate(family, {}).spec.network, DirectedNetwork)
    return uses_edges(family) and not sees_both


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
    """Whether what is learnt belongs to nodes: its shapes change with one node more."""
    spec = Candidate(family, {}).spec
    few, more = (
        [
            value.shape
            for value in spec.build(num_nodes=n, num_features=2, num_classes=2)
            .state_dict()
            .values()
        ]
        for n in (3, 4)
    )
    return few != more


def draw(
    families: Sequence[Family],
    *,
    seed: int,
    size: WorkSize | None = None,
    total: float = math.inf,
    trainings: int = 1,
) -> dict[Family, Iterator[Candidate]]:
    """Return for each family its candidates, each setting once: strong ones first.

    On a graph of a known ``size`` a family whose first training would take long begins with a
    short one; ``total`` are the seconds of the search on all workers, ``trainings`` the splits on
    which a candidate is first looked at.

    >>> from heterophily.prediction.families import ACM
    >>> next(draw([ACM], seed=0)[ACM]).settings
    {'lr': 0.01, 'weight_decay': 0.0005, 'dropout': 0.4}
    """
    found: dict[Family, Iterator[Candidate]] = {}
    for family in families:
        settings = family.portfolio.ordered(seed=seed)
        if size is not None:
            options = {**family.options, **settings[0]}
            epochs = shortened(family.cost, size, options, total=total, trainings=trainings)
            if epochs is not None:
                settings.insert(0, {**settings[0], "max_epochs": epochs})
        found[family] = iter([Candidate(family, each) for each in settings])
    return found


def in_order(
    families: Sequence[Family],
    verdict: str,
    *,
    size: WorkSize,
    seed: int,
    helpful: str = "",
    direction_tells: bool = False,
    total: float = math.inf,
    trainings: int = 1,
) -> tuple[Family, ...]:
    """Return the families in the order of the first round.

    The favourites of the verdict open the search: there may be no time for others. One whose first
    training would take more than half of the time comes after those that fit; when none fits, the
    cheapest is the first. Then trees on own features and a perceptron, which every other family
    must beat. Then one family of each kind, that which the verdict expects to be good, or the first
    in the table; then a second of each kind, and so on. Of families in the same place, cheap ones
    and expected ones come first.

    ``helpful`` is the source from the graph that adds most to own features (a key of
    :data:`~heterophily.diagnosis.probe_value.SOURCES`), or nothing. Where ``direction_tells``,
    every favourite is followed by itself with edges as given and reversed, and then come the
    families that see both directions apart.
    """
    expected = lookup(EXPECTED, "verdict", verdict)
    names = [_name(family) for family in expected]
    firsts = draw(families, seed=seed, size=size, total=total, trainings=trainings)
    seconds = {family: next(found).seconds(size) for family, found in firsts.items()}

    def is_expected(family: Family) -> bool:
        return _name(family) in names

    def wait(family: Family) -> float:
        factor = 1.0 if is_expected(family) else LATER
        return seconds[family] * (SOONER if _name(family) in names[:FAVOURITE] else factor)

    place: dict[Family, tuple[float, ...]] = {}
    for kind in dict.fromkeys(family.kind for family in families):
        mine = [family for family in families if family.kind == kind]
        ordered = sorted(mine, key=lambda f: (f.turn_of is not None, not is_expected(f)))
        place |= {family: (number, wait(family)) for number, family in enumerate(ordered)}
    place |= {f: (-1, wait(f)) for f in families if f in (TREES, MLP)}
    named = FAVOURITES.get((verdict, helpful)) or FAVOURITES[verdict, ""]
    for number, favourite in enumerate(map(_name, named)):
        for family in families:
            if _name(family) == favourite and (direction_tells or family.turn_of is None):
                fits = seconds[family] <= LONGEST_FIRST * total
                place[family] = (-3, 0.0, number) if fits else (-3, 1.0, seconds[family])
    if direction_tells:
        place |= {f: (-2, wait(f)) for f in families if f.kind == "directed"}
    return tuple(sorted(families, key=lambda family: place[family]))


def _name(family: Family) -> tuple[str, str, bool]:
    """Return what makes a family the same, whichever way its edges go."""
    base = family if family.turn_of is None else family.turn_of
    options = {k: v for k, v in base.options.items() if k != "edge_direction"}
    return base.model, base.title, bool(options)
