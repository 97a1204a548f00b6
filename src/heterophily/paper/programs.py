"""The space ``programs``: a few settings of each baseline, most of them from its own program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from heterophily.models.catalog import MODELS
from heterophily.paper.presets import CONFIG_FIELDS
from heterophily.paper.printed import read_file
from heterophily.paper.tuned import optimal


@dataclass(frozen=True)
class SourcedSetting:
    """One setting of a model on a dataset, and where it comes from."""

    source: str
    settings: Mapping[str, Any]


@cache
def _content() -> dict[str, Any]:
    return read_file("hyperparameters", "programs")


def candidates(model: str, dataset: str) -> list[SourcedSetting]:
    """Return the settings that are known for a model on a dataset.

    >>> [candidate.source for candidate in candidates("glognn", "cora")]
    ['program']
    """
    found = []
    for entry in _content()["candidates"]:
        if model not in entry["models"] or dataset not in entry.get("datasets", _datasets()):
            continue
        printed = entry.get("settings", {})
        if "appendix" in entry:
            printed = {
                key: value
                for key, value in (optimal(model, dataset, entry["appendix"]) or {}).items()
                if key in CONFIG_FIELDS or MODELS[model].accepts(key)
            }
        found.append(SourcedSetting(entry["source"], {**_content()["common"], **printed}))
    return found


def _datasets() -> list[str]:
    names: list[str] = _content()["datasets"]
    return names


def compared_splits(dataset: str) -> int:
    """Return on how many splits candidates are compared before one of them gets the others.

    >>> compared_splits("texas"), compared_splits("pubmed")
    (5, 1)
    """
    found = _content()["search"]
    return int(found.get(dataset, found["splits"]))
