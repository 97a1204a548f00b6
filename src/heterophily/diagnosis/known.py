"""Where well-known datasets stand: their metrics, computed once and kept as data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

ANCHORS = ("texas", "squirrel", "cora")
"""Datasets shown beside each metric: harmful, harmless and homophilic."""


@cache
def known_metrics() -> dict[str, dict[str, float]]:
    """Return for each of the paper's ten datasets its metrics, by full name.

    >>> round(known_metrics()["cora"]["edge_homophily"], 2)
    0.81
    """
    text = files("heterophily.diagnosis").joinpath("known.toml").read_text("utf-8")
    return dict(tomllib.loads(text))
