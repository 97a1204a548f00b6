"""The space ``field``: at most three whole settings for each model, the same on every graph."""

from __future__ import annotations

from functools import cache
from typing import Any

from heterophily.paper.printed import read_file


@cache
def _content() -> dict[str, Any]:
    return read_file("hyperparameters", "field")


def field_settings(model: str, dataset: str) -> list[dict[str, Any]]:
    """Return the settings that are compared for a model; none if the space does not know it.

    >>> [setting["depth"] for setting in field_settings("res-gcn", "tolokers")]
    [5, 3, 2]
    >>> [field_settings("gcn", graph)[0]["select_by"] for graph in ("texas", "tolokers")]
    ['validation-accuracy', 'validation-roc-auc']
    """
    for entry in _content()["models"]:
        if model in entry["names"]:
            common = dict(_content()["common"])
            common["select_by"] = _content()["select_by"].get(dataset, common["select_by"])
            return [{**common, **setting} for setting in entry["settings"]]
    return []


def field_splits(dataset: str) -> int:
    """Return on how many splits the settings are compared before one of them gets the others.

    >>> field_splits("texas"), field_splits("tolokers")
    (2, 1)
    """
    return 1 if dataset in _content()["one_split"] else int(_content()["splits"])
