"""A graph from a table of edges and, if there is one, a table of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.adjacency import Direction, SelfLoops, adjacency_from_edges
from heterophily.data.encode.encoder import Encoder
from heterophily.data.graph import Graph
from heterophily.data.leaks import leak_remarks
from heterophily.data.tables.columns import (
    EdgeColumns,
    NodeColumns,
    edge_columns,
    node_columns,
)
from heterophily.data.tables.features import encoded_features, plain_features
from heterophily.data.tables.ids import (
    check_ids,
    find_ids,
    number_ids,
    repeats,
    same_kind,
    without_points,
)
from heterophily.data.tables.nodes import read_labels, read_splits
from heterophily.data.tables.parquet import ParquetTable
from heterophily.data.tables.table import Table, also, place, suffix_of
from heterophily.data.tables.text import TextTable
from heterophily.data.wording import short
from heterophily.errors import InputError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame as Frame

FileName = str | PathLike[str]


def read_tables(
    edges: FileName | Frame,
    nodes: FileName | Frame | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    split: str | None = None,
    labels_are_classes: bool = False,
    columns: Mapping[str, str] | None = None,
    encode: bool = True,
    encoder: Encoder | None = None,
    delimiter: str | None = None,
    has_header: bool = True,
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
        Two columns of node ids, one row per edge, and an optional weight.
    nodes
        One row per node: its id, label, split and features. Without it the nodes are the ids in
        the edge table, in increasing order, and nothing is labelled.
    source, target, weight
        Edge columns. By default well-known names (source/target, src/dst, from/to, u/v, ...;
        weight), else the first two columns.
    node_id, label, split
        Node columns. By default id/node/node_id, else the first; label/y/class; split, or
        split_0, split_1, ... for several splits. Labels are class names or whole numbers, empty =
        unlabelled. Split cells are train, val (valid, validation), test or empty.
    labels_are_classes
        Take every distinct label as a class, even if the column looks like numbers on a scale,
        several labels in a cell, or ids (see :mod:`heterophily.data.targets`).
    features, ignore
        Node columns that are features; by default all that are left, without those in ``ignore``.
        A matrix of 16 columns or more of which less than 30 % are non-zero is kept as CSR.
    columns
        Kinds of some feature columns (see :data:`~heterophily.data.encode.kinds.KINDS`), such as
        ``{"zip": "category", "joined": "date"}``; those of the others are guessed.
    encode
        ``False``: all feature columns must be numbers, without empty cells, and stay as they are.
    encoder
        Encode the columns as another graph's were (``graph.encoder``) instead of learning from
        this table; remarks tell which columns look different.
    delimiter, has_header
        Of text files. Without a header the columns are called 1, 2, 3, ...
    direction, self_loops
        What to do with them, see :func:`~heterophily.data.adjacency.adjacency_from_edges`.
    name
        Name of the graph; by default the name of the edge file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cyd\\n")
    >>> _ = (folder / "nodes.csv").write_text("id,label,age\\nann,x,20\\nbob,y,30\\ncyd,x,40\\n")
    >>> graph = read_tables(folder / "edges.csv", folder / "nodes.csv")
    >>> graph, graph.node_ids.tolist(), graph.class_names
    (Graph('edges', nodes=3, edges=2, features=1, classes=2), ['ann', 'bob', 'cyd'], ('x', 'y'))
    """
    edge_table = _open(edges, "edges", delimiter, has_header)
    chosen = edge_columns(edge_table, source=source, target=target, weight=weight)
    if nodes is None:
        _refuse_node_options(node_id, label, features, ignore, split)
        node_table, parts = None, dict[str, Any]()
        ends, weights = _read_edges(edge_table, chosen)
        numbers, node_ids = number_ids(same_kind(*ends))
    else:
        node_table = _open(nodes, "nodes", delimiter, has_header)
        if encoder is not None:
            features = [column for column in encoder.names if column in node_table.columns]
        chosen_nodes = node_columns(
            node_table, node_id=node_id, label=label, split=split, features=features, ignore=ignore
        )
        node_column, parts = _read_nodes(
            node_table,
            chosen_nodes,
            labels_are_classes=labels_are_classes,
            kinds={name: kind for name, kind in (columns or {}).items() if name not in ignore},
            encode=encode,
            encoder=encoder,
        )
        node_table.release()
        pa.default_memory_pool().release_unused()  # its columns are features now
        ends, weights = _read_edges(edge_table, chosen)
        if chosen_nodes.by_position:
            _refuse_id_as_header(node_table, [chosen_nodes.node_id], ends)
        *ends, node_column = without_points(
            [
                (edge_table, chosen.source, ends[0]),
                (edge_table, chosen.target, ends[1]),
                (node_table, chosen_nodes.node_id, node_column),
            ]
        )
        first, second, known = same_kind(*ends, node_column)
        numbers, node_ids = find_ids([first, second], known)
        _refuse_unknown(edge_table, chosen, ends, numbers, node_table)
        del first, second, known, node_column
    del ends
    remarks = (*edge_table.remarks, *(node_table.remarks if node_table is not None else ()))
    edge_file = edge_table.path.name
    if name is None:
        name = (edge_file.split(".")[0] if isinstance(edges, str | PathLike) else "") or "graph"
    del edge_table, node_table
    pa.default_memory_pool().release_unused()  # Arrow's columns: all is in NumPy now
    adjacency, notes = adjacency_from_edges(
        numbers.pop(0),
        numbers.pop(0),
        num_nodes=node_ids.size,
        weight=weights,
        direction=direction,
        self_loops=self_loops,
    )
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


def _open(table: FileName | Frame, role: str, delimiter: str | None, has_header: bool) -> Table:
    """Open a frame, or a file by the suffix of its name; nothing but the header is read yet."""
    if not isinstance(table, str | PathLike):
        from heterophily.data.tables.frame import FrameTable

        return FrameTable(table, role)
    path = Path(table)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the table file in it")
    suffix = suffix_of(path)
    if not path.exists():
        raise InputError(f"{path}: no such file")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path.name} is empty; it needs a header line and one line per row")
        if suffix == ".parquet":
            return ParquetTable(path)
        return TextTable(path, delimiter=delimiter, has_header=has_header)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def _refuse_node_options(*options: object) -> None:
    names = ("node_id", "label", "features", "ignore", "split")
    for name, value in zip(names, options, strict=True):
        if value:
            raise InputError(f"{name}={value!r} is about the node table: pass nodes= (--nodes) too")


def _refuse_id_as_header(table: Table, names: Sequence[str], ids: Sequence[Any]) -> None:
    """Refuse a first line taken for a header when one of its cells is the id of a node."""
    for name in names:
        texts = [column for column in ids if column.type == pa.string()]
        if table.has_header and any(pc.index(column, name).as_py() >= 0 for column in texts):
            raise InputError(
                f"{table.path.name}, line 1: the column name {short(name)} is also a node id; "
                "pass has_header=False (--no-header) if the first line is data, or name the columns"
            )


def _read_nodes(
    table: Table,
    columns: NodeColumns,
    *,
    labels_are_classes: bool,
    kinds: Mapping[str, str] | None,
    encode: bool,
    encoder: Encoder | None,
) -> tuple[Any, dict[str, Any]]:
    """Return the id column, and the labels, features and splits as fields of a graph."""
    found = table.read(
        ids=[columns.node_id],
        numbers=() if encode else columns.features,
        cells=columns.features if encode else (),
        words=[*columns.splits] + ([] if columns.label is None else [columns.label]),
        advice="features are numbers: correct it, or leave the column out (ignore=, --ignore)",
    )
    node_column = found.pop(columns.node_id)
    _check_node_ids(table, columns.node_id, node_column)
    parts: dict[str, Any] = {"splits": read_splits(table, columns.splits, found)}
    if columns.label is not None:
        parts["labels"], parts["class_names"] = read_labels(
            table, columns.label, found[columns.label], labels_are_classes=labels_are_classes
        )
    cells = {name: found.pop(name) for name in columns.features}
    labels = parts.get("labels")
    if not encode:
        parts["features"] = plain_features(table, cells)
        table.remarks += leak_remarks(parts["features"], labels, names=columns.features)
        parts["feature_names"] = columns.features or None
        return node_column, parts
    parts |= encoded_features(
        table, cells, num_rows=len(node_column), labels=labels, kinds=kinds, encoder=encoder
    )
    return node_column, parts


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


def _read_edges(table: Table, chosen: EdgeColumns) -> tuple[list[Any], NDArray[np.float64] | None]:
    """Return the two id columns and the weights."""
    names = [chosen.source, chosen.target]
    found = table.read(
        ids=names,
        numbers=[] if chosen.weight is None else [chosen.weight],
        advice="weights are numbers: correct it, or name another weight column",
    )
    for column in names:
        check_ids(table, column, found[column])
    weights = None if chosen.weight is None else _read_weights(table, chosen.weight, found)
    ends = [found.pop(column) for column in names]
    if chosen.by_position:
        _refuse_id_as_header(table, names, ends)
    return ends, weights


def _refuse_unknown(
    table: Table,
    chosen: EdgeColumns,
    ends: list[Any],
    numbers: list[NDArray[np.int32]],
    node_table: Table,
) -> None:
    is_unknown = [end < 0 for end in numbers]
    rows = np.flatnonzero(is_unknown[0] | is_unknown[1])
    if rows.size:
        row = int(rows[0])
        side = 0 if is_unknown[0][row] else 1
        raise InputError(
            f"{table.path.name}, {place(table, row)}, column "
            f"{short((chosen.source, chosen.target)[side])}: node "
            f"{short(ends[side][row].as_py())} is not in {node_table.path.name}; add it there or "
            f"remove the edge{also(table, rows[1:])}"
        )


def _read_weights(table: Table, name: str, found: dict[str, Any]) -> NDArray[np.float64]:
    column = found.pop(name)
    weights: NDArray[np.float64] = column.to_numpy()
    rows, fault = np.flatnonzero(np.isnan(weights)), "empty cell; give every edge a weight"
    if not column.null_count:
        rows = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if rows.size:
            fault = f"weight {weights[rows[0]]}; weights are finite, not negative"
    if rows.size:
        raise InputError(
            f"{table.path.name}, {place(table, int(rows[0]))}, column {short(name)}: {fault}"
            f"{also(table, rows[1:])}"
        )
    return weights
