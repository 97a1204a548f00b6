"""A graph to a table of edges and a table of nodes."""

from __future__ import annotations

import contextlib
import gzip
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import scipy.sparse as sp

from heterophily.data.atomic import atomic_path
from heterophily.data.graph import Graph
from heterophily.data.splits import PARTS
from heterophily.data.tables.seal import sealed
from heterophily.data.tables.table import DELIMITERS, suffix_of
from heterophily.errors import InputError

FileName = str | PathLike[str]
_CELLS = np.array(["", "train", "val", "test"])


def write_tables(graph: Graph, edges: FileName, nodes: FileName) -> None:
    """Write a graph as an edge table and a node table that :func:`read_tables` reads back.

    An undirected edge is written once (once for each of its types). Columns are source, target
    (, weight) (, edge_type), and id (, label) (, split or split_0, split_1, ...) (, feature_0,
    feature_1, ...). The labels are the class names; read back they are numbered in sorted order,
    and a class without nodes is gone. Read a directed graph with ``direction="keep"``, one with
    self loops with ``self_loops="keep"``, types of edges with ``edge_type="edge_type"``.
    """
    paths = [Path(edges), Path(nodes)]
    if paths[0].resolve() == paths[1].resolve():
        raise InputError(
            f"{paths[0]}: edges and nodes cannot be written to the same file; name two files"
        )
    suffixes = [suffix_of(path) for path in paths]
    if any(suffix in (".jsonl", ".ndjson") for suffix in suffixes):
        raise InputError(f"{paths[0].name}: tables are written as text or .parquet, not as JSON")
    _refuse_unwritable(graph)
    tables = [_edge_table(graph), _node_table(graph)]
    with contextlib.ExitStack() as stack:  # both files appear, or none
        for path, suffix, table in zip(paths, suffixes, tables, strict=True):
            _write(table, stack.enter_context(atomic_path(path)), suffix)


def _refuse_unwritable(graph: Graph) -> None:
    """Refuse what an empty cell would hide: an id or a class name that is empty."""
    if graph.node_ids.dtype.kind == "U" and (graph.node_ids == "").any():
        node = int(np.flatnonzero(graph.node_ids == "")[0])
        raise InputError(f"node {node} has an empty id, which a table cannot hold")
    if "" in graph.class_names:
        raise InputError(
            f"class {graph.class_names.index('')} has an empty name, which a table cannot hold"
        )


def _edge_table(graph: Graph) -> Any:
    if graph.edge_types is not None:
        ends, weights, codes = graph.edge_types.rows(is_directed=graph.is_directed)
    else:
        matrix = graph.adjacency if graph.is_directed else sp.triu(graph.adjacency, format="csr")
        coo = matrix.tocoo()
        ends, weights = coo.coords, coo.data.astype(np.float64)
    columns = {"source": graph.node_ids[ends[0]], "target": graph.node_ids[ends[1]]}
    if graph.is_weighted:
        columns["weight"] = weights
    if graph.edge_types is not None:
        columns["edge_type"] = np.array(graph.edge_types.names, dtype=object)[codes]
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _node_table(graph: Graph) -> Any:
    columns = {"id": pa.array(graph.node_ids)}
    if graph.num_classes:
        names = np.array([*graph.class_names, ""], dtype=object)
        columns["label"] = pa.array(names[graph.labels], mask=~graph.is_labelled)
    if graph.splits is not None:
        for index, split in enumerate(graph.splits):
            code = sum((k + 1) * getattr(split, part) for k, part in enumerate(PARTS))
            name = "split" if len(graph.splits) == 1 else f"split_{index}"
            columns[name] = pa.array(_CELLS[code], mask=np.asarray(code) == 0)
    if graph.features is not None:
        matrix: Any = graph.features
        by_column = sp.csc_array(matrix) if sp.issparse(matrix) else matrix
        for index in range(graph.num_features):
            column = by_column[:, [index]]
            dense = column.toarray() if sp.issparse(column) else column
            columns[f"feature_{index}"] = pa.array(dense.ravel().astype(np.float64))
    return pa.table(columns)


def _write(table: Any, path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pq.write_table(sealed(table), path, write_page_checksum=True)
        return
    delimiter = DELIMITERS[suffix.removesuffix(".gz")] or "\t"
    options = pa_csv.WriteOptions(delimiter=delimiter, include_header=False)
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(open(path, "wb"))
        # no time stamp and no file name inside: the same graph gives the same bytes
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if suffix.endswith(".gz") else None
        stream: Any = raw if packed is None else stack.enter_context(packed)
        stream.write(delimiter.join(table.column_names).encode() + b"\n")
        pa_csv.write_csv(table, stream, options)
