"""Studies: a table of the paper (or your own) declared in TOML, and its cells. No torch here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from heterophily.data.toml_file import is_plain, read_toml
from heterophily.errors import InputError, lookup
from heterophily.evaluation.scores import SCORES
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.paper.presets import PRESETS
from heterophily.paper.printed import Published
from heterophily.paper.published_tables import TABLES, PublishedTable, published_table

PROTOCOLS = {
    "published": "the paper's optimal hyper-parameters as printed (probably chosen on test data)",
    "validated": "hyper-parameters searched here and chosen on validation data only",
}
"""How the settings of a cell are found. A table has one protocol and says which."""


@dataclass(frozen=True)
class Row:
    """One row: a model of the table of models, perhaps with changed options.

    ``settings_of`` names the model whose published optimum is used when the paper prints none
    for this row.
    """

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    settings_of: str | None = None


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a row on a dataset, with the splits of that column."""

    row: Row
    dataset: str
    splits: str


@dataclass(frozen=True)
class Study:
    """A declared table.

    Parameters
    ----------
    name, title, place
        What it is called, what it shows, where it stands in the paper.
    rows, datasets
        Both in the order of the paper.
    splits
        A split rule, ``"paper-random"``, ``"random"`` or ``"fixed"``; datasets in ``fixed`` have
        only their own.
    published, times
        Names of the published tables with the accuracies and the milliseconds per epoch.
    beside
        Name of another published table, for the cells that the first one lacks.
    protocol, space
        How settings are found unless a command says otherwise: a key of :data:`PROTOCOLS`, and for
        ``"validated"`` a space.
    scores
        Dataset -> score by which settings are chosen and which the table shows, where it is not the
        accuracy.
    preset
        Rules of :data:`~heterophily.paper.presets.PRESETS` under both protocols.
    command
        For what is not a table of trained models: the command that computes it. Such a study has
        no rows.
    synthetic
        For a figure on generated graphs: ``bases``, and fields of
        :class:`~heterophily.studies.synthetic.SyntheticStudy`.
    """

    name: str
    title: str
    place: str = ""
    rows: tuple[Row, ...] = ()
    datasets: tuple[str, ...] = ()
    splits: str = "paper-random"
    fixed: tuple[str, ...] = ()
    published: str | None = None
    times: str | None = None
    beside: str | None = None
    protocol: str = "published"
    space: str = "paper"
    scores: Mapping[str, str] = field(default_factory=dict)
    preset: str = "paper"
    command: str | None = None
    synthetic: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every name once."""
        known = {name: rule for name, rule in SPLIT_RULES.items() if rule.settings is not None}
        lookup(known, f"split rule of study {self.name}", self.splits)
        lookup(PRESETS, f"preset of study {self.name}", self.preset)
        lookup(PROTOCOLS, f"protocol of study {self.name}", self.protocol)
        for dataset, score in self.scores.items():
            lookup(SCORES, f"score of {dataset} in study {self.name}", score)
        for name in (self.published, self.times, self.beside):
            if name is not None:
                lookup(TABLES, f"published table of study {self.name}", name)
        if self.command is None and not (self.rows and self.datasets):
            raise InputError(f"study {self.name}: it needs rows and datasets")
        for kind, names in (("row", [row.name for row in self.rows]), ("dataset", self.datasets)):
            twice = {name for name in names if list(names).count(name) > 1}
            if twice:
                raise InputError(f"study {self.name}: {kind} {min(twice)!r} occurs twice")

    def part(
        self, *, models: Sequence[str] | None = None, datasets: Sequence[str] | None = None
    ) -> Study:
        """Return the study with some rows and datasets only, in its own order.

        >>> study("ablation").part(models=["acm-gcn"], datasets=["texas"]).cells[0].dataset
        'texas'
        """
        rows, columns = {row.name: row for row in self.rows}, dict.fromkeys(self.datasets)
        for name in models or ():
            lookup(rows, f"model of study {self.name}", name)
        for name in datasets or ():
            lookup(columns, f"dataset of study {self.name}", name)
        return Study(
            **{
                **self.__dict__,
                "rows": tuple(row for row in self.rows if not models or row.name in models),
                "datasets": tuple(d for d in self.datasets if not datasets or d in datasets),
            }
        )

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All entries, dataset by dataset: a worker prepares each graph once."""
        return tuple(
            Cell(row, dataset, "fixed" if dataset in self.fixed else self.splits)
            for dataset in self.datasets
            for row in self.rows
        )

    @property
    def table(self) -> PublishedTable | None:
        """The published accuracies."""
        return None if self.published is None else published_table(self.published)

    def printed(self, row: str, dataset: str) -> Published | None:
        """Return the accuracy that the paper prints for a cell."""
        for table in (self.published, self.beside):
            if table is not None and (row, dataset) in published_table(table).cells:
                return published_table(table).cells[row, dataset]
        return None

    def printed_ms(self, row: str, dataset: str) -> float | None:
        """Return the milliseconds per epoch that the paper prints for a cell."""
        if self.times is None:
            return None
        found = published_table(self.times).cells.get((row, dataset))
        return None if found is None else found.mean


def _row(value: Any, study: str) -> Row:
    if isinstance(value, str):
        return Row(value, value)
    if not isinstance(value, dict) or "name" not in value:
        raise InputError(
            f"study {study}: a row must be a name or a table with a name, not {value!r}"
        )
    unknown = set(value) - {"name", "model", "options", "settings_of"}
    if unknown:
        raise InputError(
            f"study {study}: row {value['name']!r} has an unknown key {min(unknown)!r}; "
            "known: name, model, options, settings_of"
        )
    for key in ("name", "model", "settings_of"):
        if not isinstance(value.get(key, ""), str):
            raise InputError(f"study {study}: {key} of a row must be a name in quotes")
    options = value.get("options", {})
    if not isinstance(options, dict) or not all(map(is_plain, options.values())):
        raise InputError(
            f"study {study}: options of row {value['name']!r} must be names with values"
        )
    return Row(**{"model": value["name"], **value})


def _study(name: str, content: Mapping[str, Any]) -> Study:
    known = {key: None for key in Study.__dataclass_fields__ if key != "name"}
    for key in content:
        lookup(known, f"key of study {name}", key)
    if "title" not in content:
        raise InputError(f"study {name}: it needs a title")
    for key in ("rows", "datasets", "fixed"):
        given = content.get(key, [])
        if not isinstance(given, list) or (
            key != "rows" and not all(isinstance(item, str) for item in given)
        ):
            raise InputError(f'study {name}: {key} is a list, as in {key} = ["texas"]')
    for key in (
        "title",
        "place",
        "splits",
        "published",
        "times",
        "beside",
        "protocol",
        "space",
        "preset",
        "command",
    ):
        if not isinstance(content.get(key, ""), str):
            raise InputError(f"study {name}: {key} must be a text in quotes")
    for key in ("synthetic", "scores"):
        if not isinstance(content.get(key, {}), dict):
            raise InputError(f"study {name}: {key} must be a table; write [{key}]")
    rows = tuple(_row(value, name) for value in content.get("rows", ()))
    lists = {key: tuple(content.get(key, ())) for key in ("datasets", "fixed")}
    return Study(**{**content, "name": name, "rows": rows, **lists})


@cache
def studies() -> dict[str, Study]:
    """Return the studies of the package by name, in the order of the paper."""
    folder = files("heterophily.studies") / "declared"
    found = {
        path.name.removesuffix(".toml"): tomllib.loads(path.read_text("utf-8"))
        for path in folder.iterdir()
        if path.name.endswith(".toml")
    }
    order = sorted(found, key=lambda name: (found[name].pop("number"), name))
    return {name: _study(name, found[name]) for name in order}


def study(name: str | Path) -> Study:
    """Return a study by name, or from a TOML file of your own.

    >>> study("ablation").place
    'Table 1'
    """
    if str(name).endswith(".toml"):
        path = Path(name)
        content = read_toml(path)
        content.pop("number", None)
        return _study(path.stem, content)
    return lookup(studies(), "table", str(name))
