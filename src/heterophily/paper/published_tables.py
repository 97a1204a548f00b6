"""The result tables of the paper: ablations, and comparisons on random and fixed splits."""

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
from heterophily.paper.tuned import tuned

TABLES = {
    "ablation": "PublishedTable 1, accuracy of the components of ACM",
    "ablation-time": "PublishedTable 1, milliseconds per epoch",
    "sota": "all models on random 60/20/20 splits",
    "fixed-splits": "all models on the fixed 48/32/20 splits",
    "field": "models since 2022, printed in later papers",
    "filters": "random-walk against symmetric filters",
    "w-mix": "with against without W_mix",
    "combined-features": "mixing weights from raw against combined features",
}


FROM_MEMORY = ", quoted from memory"
"""Ends the source of a value that was not checked against the print."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A printed table, models in rows and datasets in columns, both in the paper's order.

    ``unit`` is "accuracy" (fractions) or "milliseconds". ``cells`` holds the printed values,
    ``absent`` the word printed instead of one ("NA", "OOM"), ``ranks`` the last column if any.
    """

    name: str
    title: str
    label: str
    unit: str
    protocol: str
    models: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: Mapping[tuple[str, str], Published]
    absent: Mapping[tuple[str, str], str]
    ranks: Mapping[str, float]

    def cell(self, model: str, dataset: str) -> Published | None:
        """Return a value, or None where the paper prints none; unknown names are refused."""
        for kind, name, known in (
            ("model", model, self.models),
            ("dataset", dataset, self.datasets),
        ):
            lookup(dict.fromkeys(known), f"{kind} of table {self.name}", name)
        return self.cells.get((model, dataset))


def _value(printed: Any, unit: str, source: str) -> Published:
    mean, std = printed if isinstance(printed, list) else (printed, None)
    if unit == "milliseconds":
        return Published(mean, std, source)
    return Published.from_percent(mean, std, source)


@cache
def _table(name: str) -> PublishedTable:
    content = read_file("published", name)
    unit, columns = content["unit"], content["columns"][1:]
    cells: dict[tuple[str, str], Published] = {}
    absent: dict[tuple[str, str], str] = {}
    ranks: dict[str, float] = {}
    for model, *values in content["rows"]:
        for column, printed in zip(columns, values, strict=True):
            if column == "rank":
                ranks[model] = printed
            elif isinstance(printed, str):
                absent[model, column] = printed
            else:
                is_checked = [model, column] not in content.get("unchecked", [])
                source = name if is_checked else f"{name}{FROM_MEMORY}"
                cells[model, column] = _value(printed, unit, source)
    return PublishedTable(
        name=name,
        title=TABLES[name],
        label=content["label"],
        unit=unit,
        protocol=content["protocol"],
        models=tuple(row[0] for row in content["rows"]),
        datasets=tuple(column for column in columns if column != "rank"),
        cells=cells,
        absent=absent,
        ranks=ranks,
    )


def published_table(name: str) -> PublishedTable:
    """Return a table of the paper; the names are those of ``TABLES``.

    >>> table = published_table("sota")
    >>> len(table.models), len(table.datasets), table.ranks["acmii-gcn+"]
    (33, 10, 4.4)
    >>> table.cell("snowball-2", "deezer-europe"), table.absent["snowball-2", "deezer-europe"]
    (None, 'OOM')
    """
    lookup(TABLES, "published table", name)
    return _table(name)


def published_accuracy(model: str, dataset: str, protocol: str) -> Published | None:
    """Return the accuracy that the paper reports for a model, or None if it reports none.

    Random splits: the sota table, then the ablation study and the three small comparisons (for
    variants such as ``acm-gcn[sum]``). Fixed splits: the fixed-splits table. A model in none of
    these (ACM-Snowball on fixed splits) has the accuracy printed beside its hyper-parameters.
    Deezer-Europe has its own 50/25/25 splits and the same value under both protocols.

    >>> published_accuracy("acm-gcn", "cornell", "random")
    Published(mean=0.9475, std=0.038, source='sota')
    >>> published_accuracy("acm-snowball-2", "cornell", "fixed").source
    'fixed-acm'
    """
    lookup(PROTOCOLS, "protocol", protocol)
    model = SAME_MODEL.get(model, model)
    asked = "random" if dataset == DEEZER else protocol
    for name in ("sota", "fixed-splits", "ablation", "filters", "w-mix", "combined-features"):
        table = _table(name)
        if table.protocol == asked and (model, dataset) in table.cells:
            return table.cells[model, dataset]
    row = tuned(model, dataset, protocol)
    return row.result if row else None
