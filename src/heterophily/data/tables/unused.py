"""Columns of an edge table that are not used: what they seem to hold, and how to use them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from heterophily.data.encode.dates import are_days, formats_of
from heterophily.data.encode.numerals import decimal_of
from heterophily.data.labels import NUMBER
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import EdgeColumns
from heterophily.data.tables.content import counts_rows
from heterophily.data.tables.end_labels import label_stem
from heterophily.data.tables.end_names import words_in
from heterophily.data.tables.table import Head, Table
from heterophily.data.wording import listed, short
from heterophily.errors import InputError

MOST_TYPES = 20
"""Different words up to which a column may hold types of edges."""

ROWS_PER_TYPE = 5
"""So many rows must have the same word, on average."""

TIMES = ("time", "ts", "created_at")
"""Names of columns that hold points in time, whatever their cells look like."""

TIME_WORDS = {"timestamp", "date", "datetime", "datum"}
"""Words in such names."""

TYPE_WORDS = {"type", "kind", "relation", "rel", "typ", "art"}
"""Words in names of columns whose numbers are types of edges."""

_SHOWN = 5  # columns that are described one by one


def edge_remark(
    table: Table, columns: EdgeColumns, head: Head, labels: Sequence[str] | None = None
) -> str:
    """Say which columns of an edge table are used, and what the others hold.

    ``labels`` are the columns with the labels of the ends, if there are some.
    """
    remark = (
        f"{table.path.name}: source and target from columns {columns.source!r}, {columns.target!r}"
    )
    if columns.why:
        remark += f" ({columns.why})"
    elif columns.by_position and table.has_header:
        remark += " (the first two)"
    if columns.weight is not None:
        remark += f"; weight from {columns.weight!r}"
    if columns.edge_type is not None:
        remark += f"; types of edges from {columns.edge_type!r}"
    used = {columns.source, columns.target, columns.weight, columns.edge_type, *(labels or ())}
    unused = [name for name in table.columns if name not in used and name in (head or [name])]
    pairs = [
        (first, second, stem)
        for first in unused
        for second in unused
        if first != second and (stem := label_stem(columns, first, second))
    ]
    for first, second, stem in pairs[:1] if labels is None else []:
        remark += f"; {remedy('use-as-labels', stem=stem, first=first, second=second)}"
        unused = [name for name in unused if name not in (first, second)]
    if unused:
        told = [_described(name, head.get(name, []), columns) for name in unused[:_SHOWN]]
        more = f", ... ({len(unused)} columns)" if len(unused) > _SHOWN else ""
        remark += f"; not used: {', '.join(told)}{more}"
    return remark


def refuse_matrix(table: Table, head: Head) -> None:
    """Refuse a table with a row and a column for each node."""
    first, *others = table.columns
    if len(others) > 2 and [cell or "" for cell in head.get(first, [])][: len(others)] == others:
        raise InputError(
            f"{table.path.name}: its columns have the same names as its rows, as in a matrix with "
            "a row and a column for each node; write one row per edge, or pass a SciPy matrix in "
            "Python"
        )


def refuse_odd_ends(table: Table, columns: EdgeColumns, head: Head) -> None:
    """Refuse the first two columns as ends if one holds points in time or fractions."""
    if not columns.by_position:
        return
    for name in (columns.source, columns.target):
        cells = [cell.strip() for cell in head.get(name, []) if cell and cell.strip()]
        numbers = [cell for cell in cells if NUMBER.fullmatch(cell)]
        has_fractions = len(numbers) == len(cells) and any(float(cell) % 1 for cell in numbers)
        if has_fractions or (cells and _are_dates(cells[:100])):
            what = "fractions" if has_fractions else "points in time"
            raise InputError(
                f"{table.path.name}: column {short(name)} holds {what}, not ids; "
                f"{remedy('name-ends')}; columns: {listed(table.columns)}"
            )


def _are_dates(cells: Sequence[str]) -> bool:
    if all(map(str.isdigit, cells)):
        return bool(cells) and are_days(np.array([float(cell) for cell in cells]))
    return formats_of(pa.array(cells, pa.string()))[1] >= 0.8


def _are_numbers(cells: Sequence[str]) -> bool:
    """Whether cells are numbers, as a computer or a person writes them."""
    if all(NUMBER.fullmatch(cell) for cell in cells):
        return True
    return decimal_of(pa.chunked_array([pa.array(cells, pa.string())]))[1] == 1


def _described(name: str, cells: Sequence[str | None], columns: EdgeColumns) -> str:
    found = [cell.strip() for cell in cells if cell and cell.strip()]
    words = sorted(set(found))
    called = {*words_in(name)}
    is_time = name.strip().lower() in TIMES or bool(called & TIME_WORDS)
    if is_time or _are_dates(found[:100]):
        return f"{name!r} (points in time)"
    if counts_rows(cells):
        return f"{name!r} (row numbers)"
    is_type = 1 < len(words) <= min(MOST_TYPES, len(found) // ROWS_PER_TYPE)
    if found and _are_numbers(found) and not (is_type and called & TYPE_WORDS):
        can_weigh = columns.weight is None and not any(cell.startswith("-") for cell in found)
        offer = f"; {remedy('use-as-weights', column=name)}" if can_weigh else ""
        return f"{name!r} (numbers{offer})"
    if is_type and columns.edge_type is None:
        return (
            f"{name!r} (types of edges, here taken together: {listed(words, 8)}; "
            f"{remedy('use-as-types', column=name)})"
        )
    return repr(name)
