"""Presets: named tables of choices that turn (model, dataset, split rule) into one recipe.

A preset is a tuple of rules. Each rule says where it holds and which values it sets; later rules
win. The preset ``paper`` puts the paper's published optimum on top of the behaviour of the
released program, without which the printed numbers are not reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.paper.printed import DEEZER as DEEZER_EUROPE
from heterophily.paper.tuned import optimal
from heterophily.training.config import DEEZER, TrainConfig

CONFIG_FIELDS = tuple(field.name for field in fields(TrainConfig))


@dataclass(frozen=True, kw_only=True)
class SettingRule:
    """Values that hold for matching models and datasets (shell patterns) and structure channel.

    Parameters
    ----------
    models, datasets
        Shell patterns, compared with the names.
    with_structure
        Holds only for models with (True) or without (False) the structure channel.
    graph
        Options of :func:`heterophily.data.source.open_graph`.
    options
        Options of the model and of its inputs.
    config
        Fields of :class:`TrainConfig`.
    """

    models: str = "*"
    datasets: str = "*"
    with_structure: bool | None = None
    graph: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, model: str, dataset: str, with_structure: bool) -> bool:
        """Whether the rule applies."""
        return (
            fnmatchcase(model, self.models)
            and fnmatchcase(dataset, self.datasets)
            and self.with_structure in (None, with_structure)
        )


@dataclass(frozen=True)
class Recipe:
    """Everything that is chosen before a model is trained on a dataset."""

    graph: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: TrainConfig = field(default_factory=TrainConfig)


_DEEZER = {name: getattr(DEEZER, name) for name in CONFIG_FIELDS[2:]}  # all but lr, weight_decay

_LIM = {"batch_norm": True, "input_dropout": 0.0}

RELEASED: tuple[SettingRule, ...] = (
    # The loader keeps the self loops of the files; citeseer's unlabelled nodes become class 0.
    SettingRule(graph={"self_loops": "keep"}),
    SettingRule(datasets="citeseer", graph={"fill_unlabelled": 0}),
    SettingRule(datasets=DEEZER_EUROPE, config=_DEEZER),
    # The mixture of three channels is multiplied by 3, that of four by 1.
    SettingRule(models="acm*", with_structure=False, options={"mix_scale": 3.0}),
    # Only with the structure channel are + and ++ trained on raw features; their norm never runs.
    SettingRule(models="acm*+", with_structure=True, options={"row_normalize": False}),
    SettingRule(models="acm*+", with_structure=False, options={"row_normalize": True}),
    SettingRule(models="acm*+", options={"use_layer_norm": False}),
    # MixHop and JK come from the program of Lim et al. (2021): batch norm, no dropout on X.
    SettingRule(models="*+jk", options=_LIM),
    SettingRule(models="mixhop", options={**_LIM, "output": "linear"}),
    # ++ adds H_X once, before the second layer.
    SettingRule(models="acm*++", options={"residual": "once", "residual_bias": True}),
)
"""What the authors' program does (FIDELITY sections 1 to 3)."""

AS_WRITTEN: tuple[SettingRule, ...] = (
    SettingRule(models="acm*+", options={"row_normalize": True}),
    SettingRule(datasets="citeseer", graph={"fill_unlabelled": 0}),
    SettingRule(datasets=DEEZER_EUROPE, config=_DEEZER),
)
"""The formulas of the paper on a graph without self loops."""

PRESETS: Mapping[str, tuple[SettingRule, ...]] = {
    "paper": RELEASED,
    "paper-as-written": AS_WRITTEN,
}
"""Name -> rules. Each starts from the published optimum of the cell."""


def recipe(
    preset: str, model: str, dataset: str, splits: str, *, extra: tuple[SettingRule, ...] = ()
) -> Recipe:
    """Return the recipe of a cell: published optimum, then the rules of the preset, then ``extra``.

    >>> found = recipe("paper", "acm-gcn", "texas", "paper-random")
    >>> found.options, found.config.lr
    ({'dropout': 0.6, 'hidden': 64, 'layers': 2, 'mix_scale': 3.0}, 0.05)
    >>> found.graph
    {'self_loops': 'keep'}
    """
    rules = (*lookup(PRESETS, "preset", preset), *extra)
    if dataset == DEEZER_EUROPE and splits != "fixed":
        raise InputError(
            f"preset {preset!r}: {dataset} is published on its five fixed splits; "
            "use --splits fixed"
        )
    printed = lookup(SPLIT_RULES, "split rule", splits).settings
    settings = None if printed is None else optimal(model, dataset, printed)
    if settings is None:
        raise InputError(
            f"preset {preset!r}: the paper has no hyper-parameters for {model} on {dataset} with "
            f"{splits} splits; leave --preset out and choose --lr, --weight-decay, --dropout"
        )
    with_structure = bool(settings.get("with_structure", False))
    config = {name: settings[name] for name in settings if name in CONFIG_FIELDS}
    options = {name: settings[name] for name in settings if name not in CONFIG_FIELDS}
    graph: dict[str, Any] = {}
    for rule in rules:
        if rule.holds(model, dataset, with_structure):
            graph.update(rule.graph)
            options.update(rule.options)
            config.update(rule.config)
    return Recipe(graph, options, TrainConfig(**config))  # type: ignore[arg-type]
