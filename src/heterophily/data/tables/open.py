"""A table by its name or as a frame; nothing but the beginning of a file is read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.data.tables.json_lines import JsonTable
from heterophily.data.tables.parquet import ParquetTable
from heterophily.data.tables.table import TYPED, Table, suffix_of
from heterophily.data.tables.text import TextTable
from heterophily.data.wording import short
from heterophily.errors import InputError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame as Frame

FileName = str | PathLike[str]


def open_table(
    table: FileName | Frame,
    role: str,
    *,
    delimiter: str | None = None,
    has_header: bool | None = None,
) -> Table:
    """Open a frame, or a file by the suffix of its name; messages call a frame by its role."""
    if not isinstance(table, str | PathLike):
        from heterophily.data.tables.frame import FrameTable

        return FrameTable(table, role)
    path = Path(table)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the table file in it")
        suffix = suffix_of(path)
        if not path.exists():
            raise InputError(f"{path}: no such file")
        if path.stat().st_size == 0:
            raise InputError(f"{path.name} is empty; it needs a header line and one line per row")
        if suffix == ".parquet":
            return ParquetTable(path)
        if suffix in TYPED:
            return JsonTable(path)
        return TextTable(path, delimiter=delimiter, has_header=has_header)
    except OSError as error:
        raise InputError(
            f"{short(path, 200)}: cannot be read ({error.strerror or error})"
        ) from error
