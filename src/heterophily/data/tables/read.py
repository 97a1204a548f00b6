"""A graph from a table of edges and, if there is one, a table of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from heterophily.data.adjacency import Direction, SelfLoops, adjacency_from_edges
from heterophily.data.edge_types import typed_adjacency
from heterophily.data.encode.encoder import Encoder
from heterophily.data.graph import Graph
from heterophily.data.memory import release
from heterophily.data.options import checked
from heterophily.data.tables.columns import edge_columns
from heterophily.data.tables.ends import UnknownEnds
from heterophily.data.tables.join import edges_alone, edges_and_nodes
from heterophily.data.tables.node_rows import NodeOptions
from heterophily.data.tables.open import FileName, open_table
from heterophily.data.tables.parents import is_one_table
from heterophily.data.tables.unused import refuse_matrix
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
    chosen = edge_columns(
        edge_table, source=source, target=target, weight=weight, edge_type=edge_type, ignore=ignore
    )
    if chosen.by_position:
        refuse_matrix(edge_table, edge_table.head())
    options = NodeOptions(
        node_id=node_id,
        label=label,
        features=features,
        ignore=ignore,
        split=split,
        labels_are_classes=labels_are_classes,
        columns=columns or {},
        encode=encode,
        encoder=encoder,
    )
    if node_table is None:
        found = edges_alone(edge_table, chosen, options)
    else:
        found = edges_and_nodes(
            edge_table,
            node_table,
            chosen,
            options,
            ends_are_given=source is not None,
            is_one_table=is_one_table(edges, nodes),
            unknown_ends=unknown_ends,
        )
    remarks = (*edge_table.remarks, *(node_table.remarks if node_table is not None else ()))
    edge_file = edge_table.path.name
    if name is None:
        name = (edge_file.split(".")[0] if isinstance(edges, str | PathLike) else "") or "graph"
    del edge_table, node_table
    release()  # Arrow's columns: all is in NumPy now
    build: dict[str, Any] = {
        "num_nodes": found.node_ids.size,
        "weight": found.weights,
        "direction": direction,
        "self_loops": self_loops,
    }
    numbers, parts = found.numbers, found.parts
    if found.types is None:
        adjacency, notes = adjacency_from_edges(numbers.pop(0), numbers.pop(0), **build)
    else:
        adjacency, notes, parts["edge_types"] = typed_adjacency(numbers, found.types, **build)
    graph = Graph(
        adjacency,
        node_ids=found.node_ids,
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
