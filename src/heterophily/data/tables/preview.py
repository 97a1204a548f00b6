"""The columns of a table before it is read as a graph: names, kinds, first values, roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heterophily.data.encode.kinds import kinds_of
from heterophily.data.tables.columns import edge_columns, node_columns
from heterophily.data.tables.parquet import ParquetTable
from heterophily.data.tables.table import Table, suffix_of
from heterophily.data.tables.text import TextTable
from heterophily.data.wording import short
from heterophily.errors import InputError

EXAMPLES = 3
"""Filled cells of a column that are shown."""


@dataclass(frozen=True, slots=True)
class ColumnPreview:
    """One column: its name, what it seems to hold, and its first filled cells."""

    name: str
    kind: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TablePreview:
    """A table: its rows, its columns, and which column would play which role."""

    rows: int
    columns: tuple[ColumnPreview, ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None  # why no roles can be proposed


def open_table(path: str | Path, *, delimiter: str | None = None, has_header: bool = True) -> Table:
    """Open a table by the suffix of its name; nothing but the header is read."""
    path = Path(path)
    suffix = suffix_of(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if suffix == ".parquet":
        return ParquetTable(path)
    return TextTable(path, delimiter=delimiter, has_header=has_header)


def preview_edges(path: str | Path, **reading: Any) -> TablePreview:
    """Look at a table of edges: roles are source, target and weight."""
    table = open_table(path, **reading)
    try:
        found = edge_columns(table, source=None, target=None, weight=None)
    except InputError as error:
        return _look(table, {}, str(error))
    roles = {"source": found.source, "target": found.target, "weight": found.weight}
    return _look(table, roles)


def preview_nodes(path: str | Path, **reading: Any) -> TablePreview:
    """Look at a table of nodes: roles are node_id and label."""
    table = open_table(path, **reading)
    try:
        found = node_columns(table, node_id=None, label=None, split=None, features=None, ignore=())
    except InputError as error:
        return _look(table, {}, str(error))
    return _look(table, {"node_id": found.node_id, "label": found.label})


def _look(
    table: Table, roles: Mapping[str, str | None], problem: str | None = None
) -> TablePreview:
    cells = table.read(cells=table.columns)
    kinds = kinds_of(cells)
    columns = tuple(ColumnPreview(name, kinds[name], _examples(cells[name])) for name in cells)
    rows = len(next(iter(cells.values()))) if cells else 0
    given = {role: name for role, name in roles.items() if name is not None}
    return TablePreview(rows, columns, given, problem)


def _examples(column: Any) -> tuple[str, ...]:
    """Return the first filled cells, each once."""
    filled = column.slice(0, 1000).drop_null().unique()
    return tuple(short(str(value), 24) for value in filled.slice(0, EXAMPLES).to_pylist())
