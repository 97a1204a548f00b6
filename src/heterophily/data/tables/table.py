"""A table on disk: which file it is, which columns it has, how to ask for them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heterophily.data.remedies import remedy
from heterophily.data.tables.locate import SHOWN
from heterophily.data.wording import short
from heterophily.errors import InputError

DELIMITERS = {
    ".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".edges": None, ".edgelist": None
}  # fmt: skip  # None: seen from the text
HEAD = 1000
"""Rows that are looked at before a table is read."""

Head = dict[str, list[str | None]]
"""The first rows as text, by column."""

TYPED = (".parquet", ".jsonl", ".ndjson")
_AS_FRAME = "read it with pandas and pass the data frame"
_NOT_READ = {
    (".xlsx", ".xls", ".ods"): "spreadsheets are not read; save the sheet as CSV UTF-8, or "
    + _AS_FRAME,
    (".sql", ".dump"): "SQL statements are not read; export the tables as CSV with a header line",
    (".json",): "JSON is read with one record per line, in a file that ends in .jsonl; or "
    + _AS_FRAME,
    (".sav", ".sas7bdat", ".dta", ".rds", ".rdata"): "files of statistics programs are not read; "
    "export the table as CSV, or " + _AS_FRAME,
}
SUFFIXES = (*DELIMITERS, *(f"{suffix}.gz" for suffix in DELIMITERS), *TYPED)


class NamedColumns(Protocol):
    """A file with columns, as far as choosing among them needs it."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        ...

    @property
    def has_header(self) -> bool:
        """Whether the file itself names them."""
        ...

    def head(self) -> Head:
        """Return the first rows of all columns as text; nothing where they cannot be read."""
        ...


class Table(Protocol):
    """Columns of one file, read when asked for. ``pa.ChunkedArray`` is written ``Any``."""

    path: Path
    columns: list[str]
    has_header: bool
    remarks: list[str]

    def read(
        self,
        *,
        ids: Sequence[str] = (),
        numbers: Sequence[str] = (),
        words: Sequence[str] = (),
        cells: Sequence[str] = (),
        advice: str = "",
    ) -> dict[str, Any]:
        """Return columns: ids as int64 or string, numbers as float64, words as string (or null).

        ``cells`` keep their type, or have the one that fits all of them.
        ``advice`` ends the message about a cell that is no number.
        """
        ...

    def head(self) -> Head:
        """Return the first rows of all columns as text; nothing where they cannot be read."""
        ...

    def release(self) -> None:
        """Let go of the bytes of the file, after the columns were read."""
        ...

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say where data rows (from 0) are, for a message."""
        ...


def place(table: Table, row: int) -> str:
    """Say where a data row (from 0) is, for a message."""
    return table.places([row])[0]


def also(table: Table, rows: Sequence[int] | NDArray[Any]) -> str:
    """Say where the same problem occurs again: the end of a message; nothing if it does not."""
    if not len(rows):
        return ""
    shown = [int(row) for row in rows[: SHOWN - 1]]
    more = f", ... ({len(rows) + 1:,} in all)" if len(rows) > len(shown) else ""
    return f"; also {', '.join(table.places(shown))}{more}"


def suffix_of(path: Path) -> str:
    """Return the table suffix of a file name (``.csv.gz`` counts as one); refuse others.

    >>> suffix_of(Path("edges.CSV.gz"))
    '.csv.gz'
    """
    name = path.name.lower()
    found = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    if not found:
        for ends, sentence in _NOT_READ.items():
            if name.endswith(ends):
                raise InputError(f"{path.name}: {sentence}")
        known = ", ".join((*DELIMITERS, *TYPED))
        raise InputError(
            f"{path.name}: unknown kind of table; rename it so that it ends in {known} (text also "
            "in .gz)"
        )
    return max(found, key=len)


WITHOUT_ROWS = "export the table again, with at least one row"
"""What to do about an empty table: a graph needs nodes and edges."""


def check_columns(table: Table) -> None:
    """Refuse a header that names two columns alike."""
    seen: set[str] = set()
    for column in table.columns:
        if column in seen:
            raise InputError(
                f"{table.path.name}: two columns are called {short(column)}; rename one, or "
                f"{remedy('first-line-is-data')}"
            )
        seen.add(column)


def require_column(table: NamedColumns, column: str, role: str) -> str:
    """Return the column if the table has it, else say which columns there are.

    Columns that pandas numbered may be asked for by their number.
    """
    column = str(column)
    if column in table.columns:
        return column
    near = difflib.get_close_matches(column, table.columns, n=1)
    hint = f" did you mean {near[0]!r}?" if near else ""
    if role == "label" and not near:
        hint = " labels in a table of their own must be joined to this one first;"
    names = ", ".join(repr(name) for name in table.columns[:12])
    more = ", ..." if len(table.columns) > 12 else ""
    raise InputError(
        f"{table.path.name}: no column {column!r} for the {role};{hint} columns: {names}{more}"
    )


def first_null(column: Any) -> int | None:
    """Return the first row of a chunked array that is null."""
    if column.null_count == 0:
        return None
    start = 0
    for chunk in column.chunks:
        if chunk.null_count:
            return start + int(np.argmax(chunk.is_null().to_numpy(zero_copy_only=False)))
        start += len(chunk)
    return None
