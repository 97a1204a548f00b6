"""Search spaces: the values of each hyper-parameter, the settings they make, and their recipes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.toml_file import is_plain, read_toml
from heterophily.errors import InputError, lookup
from heterophily.paper.presets import CONFIG_FIELDS, Recipe, SettingRule
from heterophily.paper.ranges import own_space, search_range
from heterophily.training.config import TrainConfig

if TYPE_CHECKING:
    from heterophily.models.spec import ModelSpec

Settings = Mapping[str, Any]
"""Hyper-parameter -> value."""

SPACES = {
    "paper": "the ranges of the paper's appendix",
    "default": "27 settings: learning rate, weight decay, dropout; later models have their own",
    "field": "at most three settings per model, for the table of the field since 2022",
    "programs": "for the paper's baselines: a few settings, most of them from their own programs",
}
WHOLE_SETTINGS = {"programs": "fixed-splits", "field": "field"}
"""Spaces that are lists of whole settings, and the table that each is for."""

GRAPH_FIELDS = ("direction", "self_loops")
"""Settings that say how a graph is opened."""

DEFAULT_SPACE: Mapping[str, tuple[Any, ...]] = {
    "lr": (0.01, 0.05, 0.1),
    "weight_decay": (5e-5, 5e-4, 5e-3),
    "dropout": (0.0, 0.4, 0.7),
}


@dataclass(frozen=True)
class Space:
    """Hyper-parameters in a fixed order, each with its values.

    >>> space = Space("mine", {"lr": (0.01, 0.1), "dropout": (0.0, 0.5)})
    >>> len(space), list(space)[1]
    (4, {'lr': 0.01, 'dropout': 0.5})
    """

    name: str
    values: Mapping[str, tuple[Any, ...]]

    def __post_init__(self) -> None:
        """Refuse a space without settings."""
        if not self.values:
            raise InputError(f"space {self.name}: it names no hyper-parameter")
        for key, values in self.values.items():
            if not values or len(set(values)) < len(values):
                raise InputError(f"space {self.name}: {key} needs one or more distinct values")

    def __len__(self) -> int:
        """Return the number of settings."""
        return math.prod(len(values) for values in self.values.values())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over all settings, the last hyper-parameter fastest."""
        for chosen in itertools.product(*self.values.values()):
            yield dict(zip(self.values, chosen, strict=True))


def space_for(name: str | Path, model: str, dataset: str) -> Space:
    """Return the space of a name (``paper``, ``default``) or TOML file, for one model.

    Of the default space a model gets the hyper-parameters it has, and a model since the paper the
    values declared for it; a file must fit the model.

    >>> len(space_for("paper", "acm-gcn", "cornell"))
    270
    """
    if str(name) == "paper":
        return Space("paper", _paper(model, dataset))
    if str(name) == "default":
        declared = own_space(model) or DEFAULT_SPACE
        known = _accepted(model)
        chosen = {key: tuple(values) for key, values in declared.items() if key in known}
        return Space("default", chosen)
    if str(name) in WHOLE_SETTINGS:
        raise InputError(
            f"the space {name} is made for one table: heterophily paper table "
            f"{WHOLE_SETTINGS[str(name)]} --protocol validated --space {name}; here use paper, "
            "default or a file"
        )
    check_name(name)
    return read_space(Path(name), model)


def check_name(name: str | Path) -> None:
    """Refuse what is neither a name of a space nor that of a TOML file."""
    if Path(name).suffix.lower() != ".toml":
        lookup(SPACES, "space (or .toml file)", str(name))


def _paper(model: str, dataset: str) -> dict[str, tuple[Any, ...]]:
    found: dict[str, list[Any]] = search_range(model, dataset)
    if fnmatchcase(model, "acm*+"):  # the optima differ in "with A"; the paper gives no range
        found["with_structure"] = [False, True]
    if fnmatchcase(model, "acm-gcnii*"):  # nor for these: those of the backbone
        backbone = search_range(model.removeprefix("acm-"), dataset)
        found |= {key: backbone[key] for key in ("layers", "lambda", "alpha_l") if key in backbone}
    known = _accepted(model)
    return {key: tuple(values) for key, values in found.items() if key in known}


def _accepted(model: str) -> set[str]:
    """Return the names of the hyper-parameters that a model understands."""
    from heterophily.models.catalog import MODELS
    from heterophily.models.spec import ALIASES

    options = set(MODELS[model].option_names)
    aliases = {alias for alias, name in ALIASES.items() if name in options}
    return options | aliases | set(CONFIG_FIELDS)


def read_space(path: Path, model: str) -> Space:
    """Read a TOML file of ``name = [values]``; every key must be known to the model."""
    content = read_toml(path)
    known = dict.fromkeys(sorted(_accepted(model)))
    values: dict[str, tuple[Any, ...]] = {}
    for key, given in content.items():
        lookup(known, f"hyper-parameter in {path.name}", key)
        if not isinstance(given, list):
            raise InputError(f"{path.name}: {key} = {given!r}; write a list, as in {key} = [0.1]")
        if not all(map(is_plain, given)):
            raise InputError(f"{path.name}: {key} must list numbers or texts only")
        values[key] = tuple(tuple(v) if isinstance(v, list) else v for v in given)
    space = Space(path.name, values)
    for key, choices in values.items():  # values of the wrong kind fail here, not after hours
        for choice in choices:
            check_settings(model, {key: choice}, where=path.name)
    return space


def check_settings(model: str, settings: Settings, *, where: str) -> None:
    """Refuse a value that the model or the trainer would refuse."""
    from heterophily.models.catalog import MODELS

    config = {key: value for key, value in settings.items() if key in CONFIG_FIELDS}
    options = {key: value for key, value in settings.items() if key not in CONFIG_FIELDS}
    try:
        TrainConfig(**config)
        MODELS[model].with_options(**options)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: {error}") from error


def recipe_of(
    settings: Settings, model: str | ModelSpec, dataset: str, rules: Sequence[SettingRule] = ()
) -> Recipe:
    """Return the recipe of chosen settings under the rules of a preset.

    >>> recipe_of({"lr": 0.1, "dropout": 0.5}, "acm-gcn", "texas").config.lr
    0.1
    """
    from heterophily.runs.model import name_of, spec_with

    by_default = getattr(spec_with(model, {}).options, "with_structure", False)
    with_structure = bool(settings.get("with_structure", by_default))
    config = {key: value for key, value in settings.items() if key in CONFIG_FIELDS}
    graph = {key: value for key, value in settings.items() if key in GRAPH_FIELDS}
    used = {*CONFIG_FIELDS, *GRAPH_FIELDS}
    options = {key: value for key, value in settings.items() if key not in used}
    for rule in rules:
        if rule.holds(name_of(model), dataset, with_structure):
            graph.update(rule.graph)
            options.update(rule.options)
            config.update(rule.config)
    return Recipe(graph, options, TrainConfig(**config))


def best_by_validation(scores: Sequence[Sequence[float | None]]) -> int:
    """Return which setting has the highest mean validation accuracy; ties go to the first.

    ``scores`` holds one row per setting and one accuracy per split; None marks a run that
    diverged and rules the setting out. Nothing else enters: a test accuracy is not even known
    here.

    >>> best_by_validation([[0.5, 0.7], [0.8, 0.6], [0.9, None]])
    1
    """
    means = [-math.inf if None in row or not row else math.fsum(row) / len(row) for row in scores]  # type: ignore[arg-type]
    if not means or max(means) == -math.inf:
        raise InputError("no setting of the space could be trained: every one diverged")
    return means.index(max(means))
