"""The settings that ``auto`` tries for each family, in order of expected value."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heterophily.search.space import Space

Settings = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Portfolio:
    """Settings in the order in which they are tried.

    Parameters
    ----------
    name
        Families with the same portfolio share their best settings.
    first
        Strong settings, chosen by hand on one half of the graphs of
        ``benchmarks/science/auto_suite.py``.
    rest
        A grid; what is in it and not among the first is tried after them, in random order.
    """

    name: str
    first: tuple[Settings, ...] = field(default=({},))
    rest: Space | None = None

    def ordered(self, *, seed: int) -> list[dict[str, Any]]:
        """Return all settings, each once; the seed decides the order of the grid.

        >>> Portfolio("two", ({"lr": 0.1},), Space("s", {"lr": (0.1, 0.2)})).ordered(seed=0)
        [{'lr': 0.1}, {'lr': 0.2}]
        """
        found = [dict(settings) for settings in self.first]
        more = [] if self.rest is None else list(self.rest)
        random.Random(seed).shuffle(more)
        return [*found, *(settings for settings in more if settings not in found)]


def _settings(keys: str, *rows: tuple[Any, ...]) -> tuple[Settings, ...]:
    names = keys.split()
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


PAPER = Portfolio(
    "ACM and its backbones",
    (
        *_settings(
            "lr weight_decay dropout",
            (0.01, 5e-4, 0.4),
            (0.01, 5e-5, 0.2),
            (0.05, 5e-4, 0.6),
            (0.01, 5e-3, 0.6),
            (0.002, 5e-5, 0.4),
            (0.05, 5e-3, 0.4),
            (0.05, 5e-4, 0.8),
            (0.01, 5e-6, 0.0),
        ),
    ),
    Space(
        "auto",
        {
            "lr": (0.002, 0.01, 0.05),
            "weight_decay": (5e-6, 5e-5, 5e-4, 5e-3),
            "dropout": (0.0, 0.2, 0.4, 0.6, 0.8),
        },
    ),
)
STACKS = Portfolio(
    "residual stacks",
    _settings(
        "depth hidden lr weight_decay dropout",
        (3, 64, 0.01, 0.0, 0.2),
        (5, 64, 0.003, 0.0, 0.2),
        (2, 64, 0.01, 5e-4, 0.5),
        (2, 128, 0.003, 5e-5, 0.5),
        (5, 128, 0.003, 0.0, 0.2),
        (1, 64, 0.01, 5e-4, 0.5),
        (3, 256, 0.001, 5e-5, 0.4),
        (8, 64, 0.003, 0.0, 0.2),
    ),
    Space(
        "residual stacks",
        {
            "depth": (2, 3, 5),
            "hidden": (64, 128),
            "lr": (0.01, 0.003, 0.001),
            "weight_decay": (0.0, 5e-4),
            "dropout": (0.2, 0.5),
        },
    ),
)
STRUCTURE = Portfolio(
    "linkx",
    _settings(
        "lr weight_decay dropout",
        (0.01, 5e-3, 0.5),
        (0.01, 5e-5, 0.5),
        (0.01, 5e-4, 0.2),
        (0.05, 5e-3, 0.5),
        (0.002, 5e-4, 0.5),
    ),
    Space(
        "linkx",
        {
            "lr": (0.002, 0.01, 0.05),
            "weight_decay": (5e-5, 5e-4, 5e-3),
            "dropout": (0.2, 0.5, 0.8),
            "hidden": (64, 128),
        },
    ),
)
GLOBAL_FEATURES = Portfolio(
    "glognn, features",
    _settings(
        "lr weight_decay dropout gamma hops",
        (0.01, 5e-5, 0.5, 0.5, 2),
        (0.01, 1e-3, 0.8, 0.1, 5),
        (0.01, 1e-3, 0.5, 0.5, 2),
        (0.01, 5e-5, 0.0, 0.8, 2),
    ),
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
)
GLOBAL_STRUCTURE = Portfolio(
    "glognn, structure",
    (
        *_settings(
            "lr weight_decay dropout", (0.01, 5e-5, 0.5), (0.002, 5e-4, 0.5), (0.01, 5e-3, 0.5)
        ),
    ),
    Space(
        "glognn, structure",
        {
            "lr": (0.002, 0.01),
            "weight_decay": (5e-6, 5e-5, 5e-4, 5e-3),
            "dropout": (0.2, 0.5, 0.8),
        },
    ),
)
PAGERANK = Portfolio(
    "gprgnn",
    _settings(
        "lr weight_decay dropout alpha",
        (0.01, 5e-4, 0.5, 0.1),
        (0.05, 5e-4, 0.5, 0.5),
        (0.01, 5e-5, 0.7, 0.9),
        (0.05, 5e-5, 0.4, 0.1),
    ),
    Space(
        "gprgnn",
        {
            "lr": (0.01, 0.05),
            "weight_decay": (5e-5, 5e-4),
            "dropout": (0.4, 0.7),
            "alpha": (0.1, 0.5, 0.9),
        },
    ),
)
FREQUENCY = Portfolio(
    "fagcn",
    _settings(
        "lr weight_decay dropout epsilon",
        (0.01, 5e-4, 0.5, 0.3),
        (0.01, 5e-5, 0.5, 0.6),
        (0.01, 1e-3, 0.6, 0.2),
        (0.05, 5e-4, 0.5, 0.5),
    ),
)
FILTERED = Portfolio(
    "fsgnn",
    _settings(
        "lr weight_decay dropout hops",
        (0.01, 5e-4, 0.5, 3),
        (0.05, 5e-3, 0.7, 3),
        (0.01, 5e-5, 0.5, 3),
        (0.01, 5e-4, 0.5, 8),
    ),
)
TREES = Portfolio(
    "trees",
    _settings(
        "depth learning_rate column_share rounds",
        (4, 0.1, 0.5, 300),
        (6, 0.05, 0.3, 500),
        (3, 0.05, 0.7, 500),
        (8, 0.05, 0.3, 500),
        (2, 0.1, 0.7, 500),
        (6, 0.02, 0.5, 1000),
    ),
)
LABELS = Portfolio(
    "label propagation",
    _settings("alpha hops", (0.9, 50), (0.8, 2), (0.99, 50), (0.5, 10), (0.5, 1)),
)
CORRECTED = Portfolio(
    "correct and smooth",
    _settings(
        "lr weight_decay dropout correct_alpha smooth_alpha",
        (0.01, 5e-4, 0.5, 0.9, 0.8),
        (0.01, 5e-4, 0.5, 0.5, 0.5),
        (0.01, 5e-5, 0.2, 0.9, 0.2),
        (0.05, 5e-4, 0.5, 0.5, 0.2),
    ),
)
