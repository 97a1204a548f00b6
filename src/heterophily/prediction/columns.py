"""Which columns of a node table are features: by the rules of the table reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heterophily.data.tables.columns import node_columns
from heterophily.data.tables.parquet import ParquetTable
from heterophily.data.tables.table import Table, suffix_of
from heterophily.data.tables.text import TextTable


def open_table(path: str | Path, *, delimiter: str | None = None, has_header: bool = True) -> Table:
    """Open a table that the reader has read before; nothing but the header is read."""
    if suffix_of(Path(path)) == ".parquet":
        return ParquetTable(Path(path))
    return TextTable(Path(path), delimiter=delimiter, has_header=has_header)


def feature_columns(
    table: Table,
    *,
    node_id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the names of the feature columns, in their order."""
    return node_columns(
        table, node_id=node_id, label=label, split=split, features=features, ignore=ignore
    ).features
