"""Columns that have types already, of Parquet files and of tables in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from heterophily.data.tables.table import Head, Table
from heterophily.data.wording import short
from heterophily.errors import InputError


class TypedTable(ABC):
    """A table whose columns have types: what its file, or its frame, has to deliver."""

    path: Path
    columns: list[str]
    has_header: bool
    remarks: list[str]
    row_word = "row"

    @abstractmethod
    def first_rows(self) -> dict[str, Any]:
        """Return the first rows of all columns, none where they cannot be read."""

    @abstractmethod
    def columns_of(self, names: Sequence[str]) -> dict[str, Any]:
        """Return whole columns as chunked Arrow arrays."""

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say which rows they are, counted from 1."""
        return [f"{self.row_word} {row + 1}" for row in rows]

    def head(self) -> Head:
        """Return the first rows of all columns as text."""
        return typed_head(self.first_rows())

    @abstractmethod
    def release(self) -> None:
        """Let go of what is held and can be read again."""

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

        ``cells`` keep their type.
        """
        columns = self.columns_of(list(dict.fromkeys([*ids, *numbers, *words, *cells])))
        return typed_columns(self, columns, ids=ids, numbers=numbers, cells=cells, advice=advice)


_EXACT = {16: 2**11, 32: 2**24, 64: 2**53}
"""From here on floating-point numbers of so many bits leave out whole numbers."""


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def typed_columns(
    table: Table,
    columns: dict[str, Any],
    *,
    ids: Sequence[str],
    numbers: Sequence[str],
    cells: Sequence[str],
    advice: str,
) -> dict[str, Any]:
    """Return columns as a table gives them; those that are none of the three are words.

    ``cells`` keep their type.
    """
    found = {}
    for name, column in columns.items():
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        elif pa.types.is_null(column.type):  # nothing but missing cells
            column = column.cast(pa.string())
        if name in cells:
            found[name] = column
        elif name in numbers:
            found[name] = _number(table, name, column, advice)
        else:
            found[name] = (_id if name in ids else _word)(table, name, column)
    return found


def typed_head(columns: dict[str, Any]) -> Head:
    """Return columns as text; those that have no text (lists, ...) are left out."""
    found: Head = {}
    for name, column in columns.items():
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            found[name] = column.cast(pa.string()).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return found


def _refuse(table: Table, name: str, kind: Any, expected: str) -> InputError:
    return InputError(
        f"{table.path.name}, column {short(name)}: holds {kind} values, expected {expected}"
    )


def _id(table: Table, name: str, column: Any) -> Any:
    if _is_text(column.type):
        return column.cast(pa.string())
    if pa.types.is_floating(column.type):  # as pandas keeps integers beside an empty cell
        column = pc.if_else(pc.is_nan(column), None, column)
        exact = _EXACT[column.type.bit_width]
        if pc.any(pc.greater_equal(pc.abs(column), pa.scalar(exact, column.type))).as_py():
            raise InputError(
                f"{table.path.name}, column {short(name)}: numbers from {exact:,} on are rounded "
                f"in type {column.type}, so different ids become equal; keep ids as integers or "
                "strings"
            )
        whole = pc.cast(column, pa.int64(), safe=False)
        if pc.all(pc.equal(column, whole)).as_py():
            table.remarks.append(
                f"{table.path.name}, column {short(name)}: whole numbers with a point read as "
                "integers"
            )
            return whole
    if not pa.types.is_integer(column.type):
        raise _refuse(table, name, column.type, "ids: whole numbers or strings")
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 2^63
        return column.cast(pa.string())


def _number(table: Table, name: str, column: Any, advice: str) -> Any:
    if _is_text(column.type) and column.null_count < len(column):
        value = short(column[0].as_py() or "")
        raise InputError(
            f"{table.path.name}, row 1, column {short(name)}: {value} is not a number; {advice}"
        )
    if not (_is_number(column.type) or column.null_count == len(column)):
        raise _refuse(table, name, column.type, "numbers")
    return pc.cast(column, pa.float64(), safe=False)


def _word(table: Table, name: str, column: Any) -> Any:
    if not _is_text(column.type) and not _is_number(column.type):
        raise _refuse(table, name, column.type, "words or whole numbers")
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        texts = pc.if_else(pc.is_nan(column), None, texts)
    return pc.if_else(pc.equal(texts, ""), None, texts)
