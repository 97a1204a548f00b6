"""The columns of a table before it is read as a graph: names, kinds, first values, roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.data.encode.kinds import kinds_of
from heterophily.data.tables.columns import IDS, LABELS, WEIGHTS
from heterophily.data.tables.end_names import ends_by_name, plain_names
from heterophily.data.tables.open import open_table
from heterophily.data.tables.table import Table

EXAMPLES = 3
"""Filled cells of a column that are shown."""

LONGEST = 24
"""Letters of a cell that are shown."""


@dataclass(frozen=True, slots=True)
class ColumnPreview:
    """One column: its name, what it seems to hold, and its first filled cells."""

    name: str
    kind: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TablePreview:
    """A table: its rows, its columns, and the roles that well-known names give to them."""

    rows: int
    columns: tuple[ColumnPreview, ...]
    roles: Mapping[str, str]


def preview_edges(path: str | Path, **reading: Any) -> TablePreview:
    """Look at a table of edges: well-known names give source, target and weight."""
    table = open_table(path, "edges", **reading)
    found = plain_names(table.columns)
    ends = ends_by_name(table.columns)
    roles = {} if ends is None else dict(zip(("source", "target"), ends, strict=True))
    return _look(table, roles | _first(found, "weight", WEIGHTS))


def preview_nodes(path: str | Path, **reading: Any) -> TablePreview:
    """Look at a table of nodes: well-known names give node_id and label."""
    table = open_table(path, "nodes", **reading)
    found = plain_names(table.columns)
    return _look(table, _first(found, "node_id", IDS) | _first(found, "label", LABELS))


def _first(found: Mapping[str, str], role: str, names: Sequence[str]) -> dict[str, str]:
    return next(({role: found[name]} for name in names if name in found), {})


def _look(table: Table, roles: Mapping[str, str]) -> TablePreview:
    cells = table.read(cells=table.columns)
    kinds = kinds_of(cells)
    columns = tuple(ColumnPreview(name, kinds[name], _examples(cells[name])) for name in cells)
    rows = len(next(iter(cells.values()))) if cells else 0
    return TablePreview(rows, columns, roles)


def _examples(column: Any) -> tuple[str, ...]:
    """Return the first filled cells, each once."""
    filled = column.slice(0, 1000).drop_null().unique()
    texts = map(str, filled.slice(0, EXAMPLES).to_pylist())
    return tuple(text if len(text) <= LONGEST else f"{text[:LONGEST]}..." for text in texts)
