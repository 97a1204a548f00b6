"""The search ranges of the paper (appendix "Hyperparameter Searching Range")."""

from __future__ import annotations

from functools import cache
from typing import Any

from heterophily.errors import UnknownNameError, lookup
from heterophily.paper.printed import SAME_MODEL, read_file

SYNTHETIC = "synthetic"
"""The dataset name that asks for the ranges of the synthetic experiments."""

RANGE_FILES = ("range-synthetic", "range-ablation", "range-real-world")


@cache
def _ranges(*names: str) -> dict[str, dict[str, Any]]:
    """Return model -> its entry, without the list of models."""
    entries = [entry for name in names for entry in read_file("hyperparameters", name)["ranges"]]
    return {
        model: {key: value for key, value in entry.items() if key != "models"}
        for entry in entries
        for model in entry["models"]
    }


@cache
def _own_spaces() -> dict[str, dict[str, list[Any]]]:
    entries = read_file("hyperparameters", "space-field")["spaces"]
    return {
        model: {key: value for key, value in entry.items() if key != "models"}
        for entry in entries
        for model in entry["models"]
    }


def own_space(model: str) -> dict[str, list[Any]] | None:
    """Return the values declared for a model since the paper, or None.

    >>> own_space("res-gcn")["depth"], own_space("gcn")
    ([3, 5], None)
    """
    return _own_spaces().get(model)


def search_range(model: str, dataset: str) -> dict[str, list[Any]]:
    """Return the values that the paper searched, per hyper-parameter.

    Deezer-Europe has ranges of its own, "synthetic" stands for the synthetic graphs, and every
    other dataset, a user's own too, has those that the paper gives "for others".

    >>> search_range("acm-gcn", "cornell")["lr"], search_range("acm-gcn", "deezer-europe")["lr"]
    ([0.01, 0.05, 0.1], [0.002, 0.01, 0.05])
    >>> search_range("acm-sgc-1[low,high]", "cora").keys()
    dict_keys(['lr', 'weight_decay'])
    """
    files = RANGE_FILES[:1] if dataset == SYNTHETIC else RANGE_FILES[1:]
    known = _ranges(*files)
    try:
        name = SAME_MODEL.get(model, model)
        entry = lookup(known, "model with a search range in the paper", name)
    except UnknownNameError as error:
        raise UnknownNameError(f"{error}; for other models use --space default") from None
    common = {key: value for key, value in entry.items() if isinstance(value, list)}
    return {key: list(value) for key, value in (common | entry.get(dataset, {})).items()}
