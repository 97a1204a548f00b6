"""What the paper prints: a value with its spread, and the data files that hold the tables."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

PROTOCOLS = {
    "random": "random 60/20/20 splits",
    "fixed": "the ten fixed 48/32/20 splits of Geom-GCN",
}

DEEZER = "deezer-europe"
"""Always trained on its own 50/25/25 splits, so its numbers answer to both protocols."""

SAME_MODEL = {"acm-sgc-1[low]": "sgc-1", "acm-gcn[low]": "gcn"}
"""Rows of the ablation study that are the plain backbone under another name."""


@dataclass(frozen=True, slots=True)
class Published:
    """A printed mean and standard deviation (None where the paper prints none).

    Accuracies are fractions; ``source`` names the table the number stands in.
    """

    mean: float
    std: float | None
    source: str

    @classmethod
    def from_percent(cls, mean: float, std: float | None, source: str) -> Published:
        """Turn percent as printed into fractions.

        >>> Published.from_percent(94.75, 3.8, "sota")
        Published(mean=0.9475, std=0.038, source='sota')
        """
        return cls(round(mean / 100, 6), None if std is None else round(std / 100, 6), source)


@cache
def read_file(folder: str, name: str) -> dict[str, Any]:
    """Return the content of ``paper/<folder>/<name>.toml``; callers do not change it."""
    path = files("heterophily.paper") / folder / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def read_places() -> list[dict[str, Any]]:
    """Return the parts of the paper, as ``paper/places.toml`` lists them."""
    path = files("heterophily.paper") / "places.toml"
    found: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["places"]
    return found
