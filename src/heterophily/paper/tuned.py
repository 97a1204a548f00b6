"""The optimal hyper-parameters of the paper (appendix "Searched Optimal Hyperparameters")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from heterophily.errors import lookup
from heterophily.paper.printed import (
    DEEZER,
    PROTOCOLS,
    SAME_MODEL,
    Published,
    read_file,
)

Setting = float | int | str | bool

TUNED_FILES = ("random-baselines", "random-acm", "random-plus", "fixed-acm", "fixed-plus")

_OUTCOMES = ("accuracy", "std", "ms_per_epoch", "seconds_per_run")


@dataclass(frozen=True, slots=True)
class Tuned:
    """One row of a table of optima: the settings, and what the paper reports they gave.

    ``result`` is the accuracy beside the settings; the tables of results disagree with it in
    places. ``weight_decays`` holds all weight decays the paper calls equally good.
    """

    hyperparameters: Mapping[str, Setting]
    weight_decays: tuple[float, ...]
    result: Published
    ms_per_epoch: float | None
    seconds_per_run: float | None
    source: str


def _tuned(row: Mapping[str, Any], source: str) -> Tuned:
    printed = {name: value for name, value in row.items() if value != "-"}
    decays = printed["weight_decay"]
    decays = tuple(decays) if isinstance(decays, list) else (decays,)
    settings = {name: value for name, value in printed.items() if name not in _OUTCOMES}
    return Tuned(
        hyperparameters=settings | {"weight_decay": decays[0]},
        weight_decays=decays,
        result=Published.from_percent(printed["accuracy"], printed["std"], source),
        ms_per_epoch=printed.get("ms_per_epoch"),
        seconds_per_run=printed.get("seconds_per_run"),
        source=source,
    )


@cache
def _rows() -> dict[str, dict[tuple[str, str], Tuned]]:
    """Return protocol -> (model, dataset) -> row."""
    found: dict[str, dict[tuple[str, str], Tuned]] = {protocol: {} for protocol in PROTOCOLS}
    for name in TUNED_FILES:
        table = read_file("hyperparameters", name)
        for dataset, rows in table["rows"].items():
            for model, *values in rows:
                row = _tuned(dict(zip(table["columns"][1:], values, strict=True)), name)
                for protocol in PROTOCOLS if dataset == DEEZER else (table["protocol"],):
                    found[protocol][model, dataset] = row
    return found


def tuned(model: str, dataset: str, protocol: str) -> Tuned | None:
    """Return the whole printed row: settings, accuracy, times; None if there is no such row.

    >>> tuned("acm-gcn", "cornell", "random").ms_per_epoch
    8.25
    """
    rows = lookup(_rows(), "protocol", protocol)
    return rows.get((SAME_MODEL.get(model, model), dataset))


def optimal(model: str, dataset: str, protocol: str) -> dict[str, Setting] | None:
    """Return the hyper-parameters that the paper reports as optimal, or None if it has none.

    Keys are those of ``lr``, ``weight_decay``, ``dropout``, ``hidden``, ``layers``, ``lambda``,
    ``alpha_l``, ``heads``, ``jk`` and ``with_structure`` that the paper prints. Of several equally
    good weight decays the first is returned (:func:`tuned` has all). FAGCN on squirrel with fixed
    splits gives None: the printed learning rate is 0. Deezer-Europe has its own 50/25/25 splits
    and gives the same row under both protocols.

    >>> optimal("acm-gcn", "cornell", "random")
    {'lr': 0.05, 'weight_decay': 0.01, 'dropout': 0.2, 'hidden': 64, 'layers': 2}
    >>> optimal("acm-gcn+", "cornell", "fixed")["with_structure"]
    False
    """
    row = tuned(model, dataset, protocol)
    return dict(row.hyperparameters) if row and "lr" in row.hyperparameters else None
