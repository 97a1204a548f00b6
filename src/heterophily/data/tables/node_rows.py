"""The rows of a node table: ids, labels, splits and features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heterophily.data.encode.encoder import Encoder
from heterophily.data.leaks import leak_remarks
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import EdgeColumns, NodeColumns, node_columns
from heterophily.data.tables.content import find_id_column, has_two_ends, shares_of_ids
from heterophily.data.tables.features import encoded_features, plain_features
from heterophily.data.tables.ids import check_ids, repeats
from heterophily.data.tables.nodes import read_labels, read_splits
from heterophily.data.tables.table import Head, Table, also, place
from heterophily.data.wording import short
from heterophily.errors import InputError


@dataclass(frozen=True)
class NodeOptions:
    """How a node table is read: options of :func:`heterophily.read_tables`."""

    node_id: str | None
    label: str | None
    features: Sequence[str] | None
    ignore: Sequence[str]
    split: str | None
    labels_are_classes: bool
    columns: Mapping[str, str]
    encode: bool
    encoder: Encoder | None


def read_nodes(
    table: Table, options: NodeOptions, head: Head, ends: EdgeColumns, *, ends_are_given: bool
) -> tuple[NodeColumns, Any, dict[str, float], dict[str, Any]]:
    """Return the columns, the ids (Arrow), shares of ids in edge columns, and fields of a graph.

    The id column that is chosen by name or place must fit the first rows of the edge table;
    otherwise the one that does is taken.
    """
    columns = _columns(table, options)
    found = _read(table, columns, options)
    ids, shares, fault = found[columns.node_id], dict[str, float](), None
    try:
        _check_node_ids(table, columns.node_id, ids)
        shares = shares_of_ids(head, ids)
    except InputError as error:
        fault = error
    if options.node_id is None and (
        fault is not None or not has_two_ends(ends, shares, are_given=ends_are_given)
    ):
        others = [
            name
            for name in table.columns
            if name not in (columns.node_id, columns.label, *columns.splits)
        ]
        better = find_id_column(table, others, head, ends, are_given=ends_are_given)
        if better is not None:
            why = " (all different, and the ends of edges are among them)"
            columns, fault = _columns(table, options, node_id=better, why=why), None
            found = _read(table, columns, options)
            ids = found[better]
            _check_node_ids(table, better, ids)
            shares = shares_of_ids(head, ids)
    if fault is not None:
        raise fault
    table.remarks.append(columns.remark)
    del found[columns.node_id]
    return columns, ids, shares, _parts(table, columns, found, options, num_rows=len(ids))


def _columns(
    table: Table, options: NodeOptions, *, node_id: str | None = None, why: str = ""
) -> NodeColumns:
    features = options.features
    if options.encoder is not None:
        features = [column for column in options.encoder.names if column in table.columns]
    return node_columns(
        table,
        node_id=options.node_id if node_id is None else node_id,
        label=options.label,
        split=options.split,
        features=features,
        ignore=options.ignore,
        why=why,
    )


def _read(table: Table, columns: NodeColumns, options: NodeOptions) -> dict[str, Any]:
    return table.read(
        ids=[columns.node_id],
        numbers=() if options.encode else columns.features,
        cells=columns.features if options.encode else (),
        words=[*columns.splits] + ([] if columns.label is None else [columns.label]),
        advice=f"features are numbers: correct it, or {remedy('leave-that-out')}",
    )


def _parts(
    table: Table,
    columns: NodeColumns,
    found: dict[str, Any],
    options: NodeOptions,
    *,
    num_rows: int,
) -> dict[str, Any]:
    """Return the labels, features and splits as fields of a graph; ``found`` is emptied."""
    parts: dict[str, Any] = {"splits": read_splits(table, columns.splits, found)}
    if columns.label is not None:
        parts["labels"], parts["class_names"] = read_labels(
            table,
            columns.label,
            found[columns.label],
            labels_are_classes=options.labels_are_classes,
        )
    cells = {name: found.pop(name) for name in columns.features}
    labels = parts.get("labels")
    if not options.encode:
        parts["features"] = plain_features(table, cells)
        table.remarks += leak_remarks(parts["features"], labels, names=columns.features)
        parts["feature_names"] = columns.features or None
        return parts
    kinds = {name: kind for name, kind in options.columns.items() if name not in options.ignore}
    return parts | encoded_features(
        table, cells, num_rows=num_rows, labels=labels, kinds=kinds, encoder=options.encoder
    )


def _check_node_ids(table: Table, name: str, column: Any) -> None:
    check_ids(table, name, column)
    found = repeats(column)
    if found is not None:
        first, later = found
        raise InputError(
            f"{table.path.name}, {place(table, int(later[0]))}, column {short(name)}: node id "
            f"{short(column[int(later[0])].as_py())} was already on {place(table, first)}; keep "
            f"one row per node{also(table, later[1:])}"
        )
