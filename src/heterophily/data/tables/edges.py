"""The rows of an edge table: ends, weights and types; each refusal names its cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.edge_types import EMPTY, MOST
from heterophily.data.encode.cells import is_text
from heterophily.data.encode.numerals import decimal_of, numbers_of
from heterophily.data.labels import NUMBER
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import EdgeColumns
from heterophily.data.tables.ids import check_ids
from heterophily.data.tables.parents import with_own_ids
from heterophily.data.tables.table import Table, also, place
from heterophily.data.wording import short
from heterophily.errors import InputError

_WHOLE = re.compile(r"-?\d+(?:\.0+)?")
_WEIGHT_ADVICE = "weights are numbers: correct it, or name another weight column"
_HEADER_HINT = "; if it is a second header line, remove it"


@dataclass
class EdgeRows:
    """The rows of an edge table: both ends (Arrow), weights, types, labels of the ends (Arrow)."""

    ends: list[Any]
    weights: NDArray[np.float64] | None = None
    types: tuple[NDArray[np.int64], tuple[str, ...]] | None = None
    labels: list[Any] | None = None
    is_no_edge: NDArray[np.bool_] | None = None

    def keep_known(self, numbers: list[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
        """Leave out rows that are no edge or have an unknown end; return the others' numbers."""
        is_known = (numbers[0] >= 0) & (numbers[1] >= 0)
        if self.is_no_edge is not None:
            is_known &= ~self.is_no_edge
        if is_known.all():
            return numbers
        if self.weights is not None:
            self.weights = self.weights[is_known]
        if self.types is not None:
            self.types = (self.types[0][is_known], self.types[1])
        if self.labels is not None:
            self.labels = [side.filter(pa.array(is_known)) for side in self.labels]
        return [side[is_known] for side in numbers]


def read_edges(
    table: Table,
    chosen: EdgeColumns,
    labels: tuple[str, str] | None = None,
    *,
    may_be_empty: bool = False,
) -> EdgeRows:
    """Read the columns of an edge table; each refusal names its cell.

    With ``may_be_empty`` a target may be empty; ``EdgeRows.is_no_edge`` says in which rows.
    """
    names = [chosen.source, chosen.target]
    weight = [] if chosen.weight is None else [chosen.weight]
    are_plain = all(_are_plain(table.head().get(name, [])) for name in weight)
    found = table.read(
        ids=names,
        numbers=weight if are_plain else (),
        cells=() if are_plain else weight,
        words=[*([] if chosen.edge_type is None else [chosen.edge_type]), *(labels or ())],
        advice=_WEIGHT_ADVICE,
    )
    is_no_edge = None
    if may_be_empty:
        ends, is_no_edge = with_own_ids(table, chosen, [found[name] for name in names])
        found |= dict(zip(names, ends, strict=True))
    for column in names:
        check_ids(table, column, found[column])
    weights = None if chosen.weight is None else _read_weights(table, chosen.weight, found)
    rows = EdgeRows([found.pop(column) for column in names], weights, is_no_edge=is_no_edge)
    if chosen.by_position:
        refuse_id_as_header(table, names, rows.ends)
    if chosen.edge_type is not None:
        rows.types = _read_types(table, chosen.edge_type, found.pop(chosen.edge_type))
    if labels is not None:
        rows.labels = [found.pop(name) for name in labels]
    return rows


def _read_types(table: Table, name: str, words: Any) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the number of the type of each row, and the names of the types in sorted order."""
    cells = pc.fill_null(pc.utf8_trim_whitespace(words), "")
    coded = cells.combine_chunks().dictionary_encode()
    names = [text or EMPTY for text in coded.dictionary.to_pylist()]
    if len(names) > MOST:
        raise InputError(
            f"{table.path.name}, column {short(name)}: {len(names):,} different types of edges; at "
            f"most {MOST} can be kept apart"
        )
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return place[coded.indices.to_numpy()], tuple(names[code] for code in order)


def refuse_unknown(
    table: Table,
    chosen: EdgeColumns,
    ends: list[Any],
    numbers: list[NDArray[np.int32]],
    node_table: Table,
    why: str,
) -> None:
    """Refuse edges to nodes that the node table does not have; ``why`` may name the cause."""
    is_unknown = [end < 0 for end in numbers]
    rows = np.flatnonzero(is_unknown[0] | is_unknown[1])
    if rows.size:
        row = int(rows[0])
        side = 0 if is_unknown[0][row] else 1
        more = f" ({rows.size:,} rows in all)" if why else also(table, rows[1:])
        advice = why or f"add it there{remedy('or-choose-unknown')}"
        raise InputError(
            f"{table.path.name}, {place(table, row)}, column "
            f"{short((chosen.source, chosen.target)[side])}: node "
            f"{short(ends[side][row].as_py())} is not in {node_table.path.name}; "
            f"{advice}"
            f"{_HEADER_HINT if rows.tolist() == [0] else more}"
        )


def refuse_second_header(table: Table, names: Sequence[str], ends: Sequence[Any]) -> None:
    """Refuse a first row of two words where all other ends are whole numbers."""
    if any(column.type != pa.string() or len(column) < 3 for column in ends):
        return
    first, second = ([column[row].as_py() for column in ends] for row in (0, 1))
    if any(map(_WHOLE.fullmatch, first)) or not all(map(_WHOLE.fullmatch, second)):
        return
    if all(_are_whole(column.slice(1)) for column in ends):
        raise InputError(
            f"{table.path.name}, {place(table, 0)}: {short(first[0])} and {short(first[1])}, "
            f"where all other ids are whole numbers (columns {short(names[0])}, "
            f"{short(names[1])}); if it is a second header line, remove it"
        )


def _are_whole(column: Any) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, f"^(?:{_WHOLE.pattern})$")).as_py())


def _read_weights(table: Table, name: str, found: dict[str, Any]) -> NDArray[np.float64]:
    column = found.pop(name)
    if is_text(column.type):
        column = _weights_in_words(table, name, column)
    weights: NDArray[np.float64] = pc.cast(column, pa.float64(), safe=False).to_numpy()
    rows = np.flatnonzero(np.isnan(weights))
    leave_out = remedy("leave-out", column=name)
    fault = f"empty cell; give every edge a weight, or {leave_out}"
    if not column.null_count:
        rows = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if rows.size:
            fault = (
                f"weight {weights[rows[0]]}; weights are finite, not negative: correct it, or "
                f"{leave_out}"
            )
    if rows.size:
        raise InputError(
            f"{table.path.name}, {place(table, int(rows[0]))}, column {short(name)}: {fault}"
            f"{also(table, rows[1:])}"
        )
    return weights


def _are_plain(cells: Sequence[str | None]) -> bool:
    """Whether cells are numbers as a computer writes them."""
    return all(NUMBER.fullmatch(cell) for cell in cells if cell)


def _weights_in_words(table: Table, name: str, column: Any) -> Any:
    """Return numbers with decimal commas, thousands marks or units; refuse other cells."""
    values, strange = numbers_of(column, decimal_of(column)[0])
    if strange.count:
        raise InputError(
            f"{table.path.name}, {place(table, strange.rows[0])}, column {short(name)}: "
            f"{short(strange.texts[0])} is not a number; {_WEIGHT_ADVICE}"
            f"{also(table, strange.rows[1:])}"
        )
    return pa.chunked_array([pa.array(values, from_pandas=True)])


def refuse_id_as_header(table: Table, names: Sequence[str], ids: Sequence[Any]) -> None:
    """Refuse a first line taken for a header when one of its cells is the id of a node."""
    for name in names:
        texts = [column for column in ids if column.type == pa.string()]
        if table.has_header and any(pc.index(column, name).as_py() >= 0 for column in texts):
            raise InputError(
                f"{table.path.name}, line 1: the column name {short(name)} is also a node id; "
                f"{remedy('first-line-is-data')}, or name the columns"
            )
