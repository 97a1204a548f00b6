"""Which column means what: as asked, else by well-known names, else by position."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heterophily.data.labels import NUMBER
from heterophily.data.remedies import remedy
from heterophily.data.tables.end_names import ends_by_name, known_ends, plain_names
from heterophily.data.tables.table import NamedColumns, require_column
from heterophily.data.wording import short
from heterophily.errors import InputError

WEIGHTS = ("weight", "edge_weight", "w")
IDS = ("id", "node", "node_id", "nodeid")
LABELS = ("label", "y", "class", "target", "is_fraud", "isfraud")
_FEATURE = re.compile(r"feature_\d+")  # as we write them
_UNNAMED = re.compile(r"\s*|Unnamed: \d+")  # row numbers, as pandas saves them
SPLIT = re.compile(r"split(_\d+)?")
_NO_HEADER = remedy("first-line-is-data")


@dataclass(frozen=True)
class EdgeColumns:
    """Columns of an edge table."""

    source: str
    target: str
    weight: str | None
    edge_type: str | None
    by_position: bool
    why: str = ""  # they were chosen, if by their content


@dataclass(frozen=True)
class NodeColumns:
    """Columns of a node table."""

    node_id: str
    label: str | None
    splits: tuple[str, ...]
    features: tuple[str, ...]
    by_position: bool
    remark: str  # on the choice


def _known(table: NamedColumns, names: Sequence[str]) -> str | None:
    """Return the column that carries the first of some well-known names, in any case."""
    plain = plain_names(table.columns)
    return next((plain[name] for name in names if name in plain), None)


def _listed(columns: Sequence[str]) -> str:
    names = ", ".join(repr(name) for name in columns[:5])
    return names + (f", ... ({len(columns)} columns)" if len(columns) > 5 else "")


def _refuse_numeric_header(table: NamedColumns, columns: Sequence[str]) -> None:
    for column in columns:
        if table.has_header and NUMBER.fullmatch(column):
            raise InputError(
                f"{table.path.name}, line 1: {short(column)} is not a column name; {_NO_HEADER}"
            )


def edge_columns(
    table: NamedColumns,
    *,
    source: str | None,
    target: str | None,
    weight: str | None,
    edge_type: str | None = None,
    ignore: Sequence[str] = (),
) -> EdgeColumns:
    """Choose the columns of an edge table by what was asked for, by name or by place."""
    name = table.path.name
    if len(table.columns) < 2:
        raise InputError(
            f"{name} has one column {_listed(table.columns)}; an edge table needs two id columns"
            f"{remedy('or-delimiter')}"
        )
    by_position = False
    if source is None and target is None:
        ends = ends_by_name(table.columns)
        by_position = ends is None
        source, target = ends or (table.columns[0], table.columns[1])
        if by_position:
            _refuse_numeric_header(table, (source, target))
    elif source is None or target is None:
        raise InputError(f"{name}: {remedy('name-both-ends')}")
    source = require_column(table, source, "source")
    target = require_column(table, target, "target")
    if source == target:
        raise InputError(f"{name}: source and target are the same column {source!r}")
    if edge_type is not None:
        edge_type = require_column(table, edge_type, "type of edges")
    if weight is not None:
        weight = require_column(table, weight, "weight")
    else:
        weight = _known(table, WEIGHTS) if table.has_header else None
        weight = None if weight in ignore else weight
    for column, role in ((weight, "weight"), (edge_type, "type")):
        if column in (source, target):
            raise InputError(
                f"{name}: column {column!r} cannot be both the {role} and an end of the edge"
            )
    return EdgeColumns(source, target, weight, edge_type, by_position)


def _only_other(table: NamedColumns, node_id: str) -> str | None:
    """Return the other column of a table of two, if its values repeat: a list of labels."""
    other = next(column for column in table.columns if column != node_id)
    cells = [cell for cell in table.head().get(other, []) if cell]
    has_fractions = any(NUMBER.fullmatch(cell) and not cell.strip().isdigit() for cell in cells)
    repeats = 1 < len(set(cells)) <= len(cells) // 2
    has_other_role = SPLIT.fullmatch(other.lower()) or _FEATURE.fullmatch(other)
    return other if repeats and not has_fractions and not has_other_role else None


def node_columns(
    table: NamedColumns,
    *,
    node_id: str | None,
    label: str | None,
    split: str | None,
    features: Sequence[str] | None,
    ignore: Sequence[str],
    why: str = "",
) -> NodeColumns:
    """Choose the columns of a node table, with a remark on the choice.

    ``why`` says how the id column was found, if its content told.
    """
    name = table.path.name
    by_position = False
    if node_id is None:
        node_id = _known(table, IDS)
        if node_id is None:
            if known_ends(table.columns) is not None:
                raise InputError(
                    f"{name} looks like an edge table (columns {_listed(table.columns)}); "
                    "the edge table comes first, the node table second, or "
                    f"{remedy('name-id')}"
                )
            by_position = True
            others = (label, split, *ignore, *(features or ()))
            node_id = next((name for name in table.columns if name not in others), table.columns[0])
            _refuse_numeric_header(table, [node_id])
    node_id = require_column(table, node_id, "node id")
    if label is None:
        label = _known(table, LABELS)
        label = None if label in ignore or label in (features or ()) else label
        if label is None and features is None and not ignore and len(table.columns) == 2:
            label = _only_other(table, node_id)
    else:
        label = require_column(table, label, "label")
    splits: tuple[str, ...]
    if split is not None:
        splits = (require_column(table, split, "split"),)
    else:
        splits = tuple(
            column
            for column in table.columns
            if SPLIT.fullmatch(column.strip().lower())
            and column not in ignore
            and column not in (features or ())
        )
    for column in ignore:
        require_column(table, column, "columns to ignore")
    taken = [node_id, *splits] + ([] if label is None else [label])
    rest = [column for column in table.columns if column not in taken]
    if features is None:
        chosen = tuple(
            column for column in rest if column not in ignore and not _UNNAMED.fullmatch(column)
        )
    else:
        chosen = tuple(require_column(table, column, "features") for column in features)
        for column in chosen:
            if column in taken:
                raise InputError(
                    f"{name}: column {column!r} is already the id, label or split, so it cannot "
                    "be a feature"
                )
    if len({*taken}) != len(taken):
        raise InputError(f"{name}: one column is named twice among id, label and split: {taken}")
    ignored = tuple(column for column in rest if column not in chosen)
    remark = f"{name}: node id from column {node_id!r}{why}"
    remark += "; no label column" if label is None else f"; label from {label!r}"
    if splits:
        remark += f"; split from {_listed(splits)}"
    if chosen:
        remark += f"; columns for features: {_listed(chosen)}"
    if ignored:
        remark += f"; ignored: {_listed(ignored)}"
    return NodeColumns(node_id, label, splits, chosen, by_position, remark)
