"""A graph from a table of edges and, if there is one, a table of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from heterophily.data.adjacency import Direction, SelfLoops, adjacency_from_edges
from heterophily.data.edge_types import typed_adjacency
from heterophily.data.encode.encoder import Encoder
from heterophily.data.graph import Graph
from heterophily.data.memory import release
from heterophily.data.options import checked
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import edge_columns
from heterophily.data.tables.content import choose_ends, doubt_two_kinds
from heterophily.data.tables.edges import (
    read_edges,
    refuse_id_as_header,
    refuse_second_header,
)
from heterophily.data.tables.end_labels import end_label_columns, labels_of_ends
from heterophily.data.tables.ends import UnknownEnds, number_ends, refuse_totals, with_more_nodes
from heterophily.data.tables.ids import number_ids, same_kind
from heterophily.data.tables.node_rows import NodeOptions, read_nodes
from heterophily.data.tables.open import FileName, open_table
from heterophily.data.tables.parents import is_one_table, parent_columns
from heterophily.data.tables.table import Table
from heterophily.data.tables.unused import edge_remark, refuse_matrix, refuse_odd_ends
from heterophily.data.wording import short
from heterophily.errors import InputError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame as Frame


def read_tables(
    edges: FileName | Frame,
    nodes: FileName | Frame | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    edge_type: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    unknown_ends: UnknownEnds = "refuse",
    split: str | None = None,
    labels_are_classes: bool = False,
    columns: Mapping[str, str] | None = None,
    encode: bool = True,
    encoder: Encoder | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    name: str | None = None,
) -> Graph:
    """Read a graph from an edge table and an optional node table.

    Tables are files (``.csv``, ``.tsv``, ``.tab``, ``.txt``, each also ``.gz``, or ``.parquet``) or
    frames in memory (pandas, polars, pyarrow; a pandas index with a name counts as a column). What
    was chosen and left out stands in ``graph.remarks``.

    Parameters
    ----------
    edges
        Two columns of node ids, one row per edge, and an optional weight. The table of nodes
        itself, if its rows name others (a parent, a manager): an empty cell is no edge.
    nodes
        One row per node: its id, label, split and features. Without it the nodes are the ids in
        the edge table, in increasing order. A table of ids and labels alone may list some of the
        nodes; the others are unlabelled.
    source, target, weight
        Edge columns. By default well-known names (source/target, from/to, sender/receiver, ...;
        weight), or else the columns that hold ids of the node table, or else the first two.
    edge_type
        Edge column whose words are types that are kept apart: ``graph.edge_types``. Without it
        all edges are alike.
    node_id, label, split
        Node columns. By default id/node/node_id, else the first, if that holds the ends of edges,
        or else the column that does; label/y/class/target; split, or split_0, split_1, ... for
        several splits. Labels are class names or whole numbers, empty = unlabelled; they may also
        stand in the edge table, in columns such as source_label and target_label. Split cells are
        train, val (valid, validation), test or empty.
    labels_are_classes
        Take every distinct label as a class, even if the column looks like numbers on a scale,
        several labels in a cell, or ids (see :mod:`heterophily.data.targets`).
    features, ignore
        Node columns that are features; by default all that are left, without those in ``ignore``.
        Columns of the edge table may be ignored too: they are then no weights, types or labels.
        A matrix of 16 columns or more of which less than 30 % are non-zero is kept as CSR.
    unknown_ends
        What becomes of an edge with an end that the node table does not have: ``"refuse"``,
        ``"add"`` (the end becomes a node without label, all features 0, which is the median), or
        ``"drop"`` (the edge is left out).
    columns
        Kinds of some feature columns (see :data:`~heterophily.data.encode.kinds.KINDS`), such as
        ``{"zip": "category", "joined": "date"}``; those of the others are guessed.
    encode
        ``False``: all feature columns must be numbers, without empty cells, and stay as they are.
    encoder
        Encode the columns as another graph's were (``graph.encoder``) instead of learning from
        this table; remarks tell which columns look different.
    delimiter, has_header
        Of text files; by default seen from the file. Without a header the columns are called 1,
        2, 3, ...
    direction, self_loops
        What to do with them, see :func:`~heterophily.data.adjacency.adjacency_from_edges`.
    name
        Name of the graph; by default the name of the edge file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cyd\\n")
    >>> _ = (folder / "nodes.csv").write_text("id,label,age\\nann,x,20\\nbob,y,30\\ncyd,x,40\\n")
    >>> graph = read_tables(folder / "edges.csv", folder / "nodes.csv")
    >>> graph, graph.node_ids.tolist(), graph.class_names
    (Graph('edges', nodes=3, edges=2, features=1, classes=2), ['ann', 'bob', 'cyd'], ('x', 'y'))
    """
    given = {
        "unknown_ends": unknown_ends,
        "columns": columns,
        "delimiter": delimiter,
        "has_header": has_header,
        "name": name,
    }
    for option, value in given.items():
        if value is not None:
            checked(option, value)
    for option, names in (("features", features), ("ignore", ignore)):
        if isinstance(names, str):
            raise InputError(f"{option}={names!r}; pass a list of column names")
    if not isinstance(encoder, Encoder | None):
        raise InputError(f"encoder={encoder!r}; pass the encoder of a graph: graph.encoder")
    how: dict[str, Any] = {"delimiter": delimiter, "has_header": has_header}
    edge_table = open_table(edges, "edges", **how)
    node_table = None if nodes is None else open_table(nodes, "nodes", **how)
    head = edge_table.head()
    chosen = edge_columns(
        edge_table, source=source, target=target, weight=weight, edge_type=edge_type, ignore=ignore
    )
    if chosen.by_position:
        refuse_matrix(edge_table, head)
    one_table = node_table is not None and is_one_table(edges, nodes)
    if one_table and source is None:
        chosen = parent_columns(edge_table, chosen, node_id, [label, *ignore, *(features or ())])
    end_head = {name: cells for name, cells in head.items() if name not in ignore}
    if node_table is None:
        refuse_odd_ends(edge_table, chosen, head)
        end_labels = end_label_columns(edge_table, chosen, label, ignore=ignore)
        strange = [name for name in ignore if name not in edge_table.columns]
        _refuse_label_of_edges(edge_table, None if end_labels else label)
        _refuse_node_options(node_id, None if end_labels else label, features, strange, split)
        edge_table.remarks.append(edge_remark(edge_table, chosen, end_head, end_labels))
        rows, parts = read_edges(edge_table, chosen, end_labels), dict[str, Any]()
        refuse_second_header(edge_table, (chosen.source, chosen.target), rows.ends)
        numbers, node_ids = number_ids(same_kind(*rows.ends))
    else:
        is_there = label is None or label in node_table.columns
        end_labels = None
        if not (label and is_there):
            end_labels = end_label_columns(edge_table, chosen, label, ignore=ignore)
        options = NodeOptions(
            node_id=node_id,
            label=label if is_there or end_labels is None else None,
            features=features,
            ignore=[
                *(
                    name
                    for name in ignore
                    if name in node_table.columns or name not in edge_table.columns
                ),
                *([chosen.target] if one_table else []),
            ],
            split=split,
            labels_are_classes=labels_are_classes,
            columns=columns or {},
            encode=encode,
            encoder=encoder,
        )
        node_columns, ids, shares, parts = read_nodes(
            node_table, options, end_head, chosen, ends_are_given=source is not None
        )
        end_labels = None if "labels" in parts else end_labels
        node_table.release()
        release()  # its columns are features now
        if source is None and not one_table:
            are_numbers = ids.type == pa.int64()
            node_name = node_table.path.name
            chosen = choose_ends(
                edge_table,
                chosen,
                end_head,
                shares,
                node_name,
                ids_are_numbers=are_numbers,
                may_be_unknown=unknown_ends == "add",
            )
        if one_table:  # the other columns are those of the nodes
            end_head = {name: end_head[name] for name in (chosen.source, chosen.target)}
        edge_table.remarks.append(edge_remark(edge_table, chosen, end_head, end_labels))
        if source is None:
            doubt_two_kinds(
                edge_table,
                chosen,
                node_columns.node_id,
                ids_are_numbers=ids.type == pa.int64(),
            )
        rows = read_edges(edge_table, chosen, end_labels, may_be_empty=one_table)
        if node_columns.by_position:
            refuse_id_as_header(node_table, [node_columns.node_id], rows.ends)
        is_label_list = "labels" in parts and len(node_table.columns) == 2
        numbers, node_ids, added = number_ends(
            edge_table,
            chosen,
            rows.ends,
            node_table,
            node_columns.node_id,
            ids,
            unknown="add" if is_label_list and unknown_ends == "refuse" else unknown_ends,
        )
        refuse_totals(node_table, node_columns.node_id, node_ids, numbers, len(ids))
        parts = with_more_nodes(parts, added)
        if unknown_ends == "drop" or one_table:
            numbers = rows.keep_known(numbers)
        del ids
    if end_labels is not None and rows.labels is not None:
        parts |= labels_of_ends(
            edge_table,
            end_labels,
            rows.labels,
            numbers,
            node_ids,
            labels_are_classes=labels_are_classes,
        )
    weights, types = rows.weights, rows.types
    del rows
    remarks = (*edge_table.remarks, *(node_table.remarks if node_table is not None else ()))
    edge_file = edge_table.path.name
    if name is None:
        name = (edge_file.split(".")[0] if isinstance(edges, str | PathLike) else "") or "graph"
    del edge_table, node_table
    release()  # Arrow's columns: all is in NumPy now
    build: dict[str, Any] = {
        "num_nodes": node_ids.size,
        "weight": weights,
        "direction": direction,
        "self_loops": self_loops,
    }
    if types is None:
        adjacency, notes = adjacency_from_edges(numbers.pop(0), numbers.pop(0), **build)
    else:
        adjacency, notes, parts["edge_types"] = typed_adjacency(numbers, types, **build)
    graph = Graph(
        adjacency,
        node_ids=node_ids,
        name=name,
        is_directed=direction == "keep",
        notes=notes,
        remarks=remarks,
        **parts,
    )
    if graph.adjacency.nnz == 0:
        raise InputError(
            f"{edge_file}: no edge is left; all {graph.notes.rows} rows are self loops or of "
            "weight 0"
        )
    return graph


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
