"""The rows of an edge table joined with those of a node table, or taken alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.memory import release
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import EdgeColumns
from heterophily.data.tables.content import choose_ends, doubt_two_kinds
from heterophily.data.tables.edges import (
    EdgeRows,
    read_edges,
    refuse_id_as_header,
    refuse_second_header,
)
from heterophily.data.tables.end_labels import end_label_columns, labels_of_ends
from heterophily.data.tables.ends import (
    Numbers,
    UnknownEnds,
    number_ends,
    refuse_totals,
    with_more_nodes,
)
from heterophily.data.tables.ids import number_ids, same_kind
from heterophily.data.tables.node_rows import NodeOptions, read_nodes
from heterophily.data.tables.parents import parent_columns
from heterophily.data.tables.table import Table
from heterophily.data.tables.unused import edge_remark, refuse_odd_ends
from heterophily.data.wording import short
from heterophily.errors import InputError


@dataclass
class Joined:
    """Edges between numbered nodes, and the parts of a graph that nodes have."""

    numbers: Numbers
    node_ids: NDArray[Any]
    parts: dict[str, Any]
    weights: NDArray[np.float64] | None
    types: tuple[NDArray[np.int64], tuple[str, ...]] | None


def edges_alone(table: Table, chosen: EdgeColumns, options: NodeOptions) -> Joined:
    """Number the nodes by the ids of the edge table; their labels may stand there too."""
    head = table.head()
    refuse_odd_ends(table, chosen, head)
    end_labels = end_label_columns(table, chosen, options.label, ignore=options.ignore)
    label = None if end_labels else options.label
    _refuse_label_of_edges(table, label)
    strange = [name for name in options.ignore if name not in table.columns]
    _refuse_node_options(options.node_id, label, options.features, strange, options.split)
    shown = {name: cells for name, cells in head.items() if name not in options.ignore}
    table.remarks.append(edge_remark(table, chosen, shown, end_labels))
    rows = read_edges(table, chosen, end_labels)
    refuse_second_header(table, (chosen.source, chosen.target), rows.ends)
    numbers, node_ids = number_ids(same_kind(*rows.ends))
    return _joined(table, rows, numbers, node_ids, {}, end_labels, options)


def edges_and_nodes(
    edge_table: Table,
    node_table: Table,
    chosen: EdgeColumns,
    options: NodeOptions,
    *,
    ends_are_given: bool,
    is_one_table: bool,
    unknown_ends: UnknownEnds,
) -> Joined:
    """Find the ends of edges among the nodes of a table.

    With ``is_one_table`` the rows of the node table name others, such as a parent.
    """
    label, ignore = options.label, options.ignore
    if is_one_table and not ends_are_given:
        taken = [label, *ignore, *(options.features or ())]
        chosen = parent_columns(edge_table, chosen, options.node_id, taken)
    head = {name: cells for name, cells in edge_table.head().items() if name not in ignore}
    is_there = label is None or label in node_table.columns
    end_labels = None
    if not (label and is_there):
        end_labels = end_label_columns(edge_table, chosen, label, ignore=ignore)
    of_nodes = [n for n in ignore if n in node_table.columns or n not in edge_table.columns]
    own = replace(
        options,
        label=label if is_there or end_labels is None else None,
        ignore=[*of_nodes, *([chosen.target] if is_one_table else [])],
    )
    columns, ids, shares, parts = read_nodes(
        node_table, own, head, chosen, ends_are_given=ends_are_given
    )
    end_labels = None if "labels" in parts else end_labels
    node_table.release()
    release()  # its columns are features now
    are_numbers = ids.type == pa.int64()
    if not ends_are_given and not is_one_table:
        chosen = choose_ends(
            edge_table,
            chosen,
            head,
            shares,
            node_table.path.name,
            ids_are_numbers=are_numbers,
            may_be_unknown=unknown_ends == "add",
        )
    if is_one_table:  # the other columns are those of the nodes
        head = {name: head[name] for name in (chosen.source, chosen.target)}
    edge_table.remarks.append(edge_remark(edge_table, chosen, head, end_labels))
    if not ends_are_given:
        doubt_two_kinds(edge_table, chosen, columns.node_id, ids_are_numbers=are_numbers)
    rows = read_edges(edge_table, chosen, end_labels, may_be_empty=is_one_table)
    if columns.by_position:
        refuse_id_as_header(node_table, [columns.node_id], rows.ends)
    is_label_list = "labels" in parts and len(node_table.columns) == 2
    numbers, node_ids, added = number_ends(
        edge_table,
        chosen,
        rows.ends,
        node_table,
        columns.node_id,
        ids,
        unknown="add" if is_label_list and unknown_ends == "refuse" else unknown_ends,
    )
    refuse_totals(node_table, columns.node_id, node_ids, numbers, len(ids))
    parts = with_more_nodes(parts, added)
    if unknown_ends == "drop" or is_one_table:
        numbers = rows.keep_known(numbers)
    return _joined(edge_table, rows, numbers, node_ids, parts, end_labels, options)


def _joined(
    table: Table,
    rows: EdgeRows,
    numbers: Numbers,
    node_ids: NDArray[Any],
    parts: dict[str, Any],
    end_labels: tuple[str, str] | None,
    options: NodeOptions,
) -> Joined:
    if end_labels is not None and rows.labels is not None:
        parts |= labels_of_ends(
            table,
            end_labels,
            rows.labels,
            numbers,
            node_ids,
            labels_are_classes=options.labels_are_classes,
        )
    return Joined(numbers, node_ids, parts, rows.weights, rows.types)


def _refuse_label_of_edges(table: Table, label: str | None) -> None:
    if label is not None and label in table.columns:
        raise InputError(
            f"{table.path.name}, column {short(label)}: it is a label of edges, but nodes are "
            f"classified here; {remedy('send-nodes')}, with a label for each node"
        )


def _refuse_node_options(*options: object) -> None:
    names = ("node_id", "label", "features", "ignore", "split")
    for name, value in zip(names, options, strict=True):
        if value:
            raise InputError(f"{name}={value!r} is about the node table: {remedy('send-nodes')}")
