"""Whatever a user has in hands, as a graph."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.data.interchange.dgl import from_dgl
from heterophily.data.interchange.networkx import from_networkx
from heterophily.data.interchange.pyg import from_pyg
from heterophily.data.interchange.scipy import from_scipy
from heterophily.errors import InputError

GraphLike = Any
"""What :func:`as_graph` takes: every function that takes a graph takes any of these."""

_KNOWN = (
    "pass a Graph, the name of a dataset or file, a pair of tables (edges, nodes), a networkx "
    "graph, a PyG Data, or a pair (SciPy matrix, labels)"
)


def as_graph(graph: GraphLike, **options: Any) -> Graph:
    """Turn a graph of another library (networkx, PyG, DGL, SciPy) into a :class:`Graph`.

    Parameters
    ----------
    graph
        | given | read by |
        |---|---|
        | a :class:`Graph` | returned as it is |
        | a name or a file, as text or path | :func:`heterophily.open_graph` |
        | a pair of tables ``(edges, nodes)``, or edges alone | :func:`heterophily.read_tables` |
        | a networkx graph | :func:`heterophily.from_networkx` |
        | a ``torch_geometric.data.Data`` | :func:`heterophily.from_pyg` |
        | a DGL graph | :func:`heterophily.from_dgl` |
        | an (N, N) matrix; ``(matrix, labels)``; ``(matrix, labels, features)`` | \
:func:`heterophily.from_scipy` |

        Tables are pandas, polars or pyarrow tables, or files.
    options
        Further arguments of the reader, for example ``label="fraud"``.

    Examples
    --------
    >>> as_graph((sp.eye_array(4, k=1), ["ok", "fraud", "ok", None])).class_names
    ('fraud', 'ok')
    """
    if isinstance(graph, Graph):
        if options:
            raise InputError(
                f"this is already a Graph, so {next(iter(options))}= cannot be applied; pass the "
                "option where the graph is read"
            )
        return graph
    try:
        return _read(graph, options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        name = str(error).split("'")[1]
        raise InputError(f"{name}= is not an option for reading {_type(graph)}") from error


def _read(graph: GraphLike, options: dict[str, Any]) -> Graph:
    if isinstance(graph, str | os.PathLike):
        from heterophily.data.source import open_graph

        return open_graph(os.fspath(graph), **options)
    if _is_matrix(graph):
        return from_scipy(graph, **options)
    if isinstance(graph, tuple | list):
        return _several(tuple(graph), options)
    if type(graph).__module__.partition(".")[0] == "dgl":
        return from_dgl(graph, **options)
    if all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        return from_networkx(graph, **options)
    if hasattr(graph, "edge_index") or hasattr(graph, "node_types"):
        return from_pyg(graph, **options)
    if _is_table(graph):
        return _tables(graph, None, options)
    raise InputError(f"{_type(graph)} is not a graph; {_KNOWN}")


def _several(parts: tuple[Any, ...], options: dict[str, Any]) -> Graph:
    """Read a pair of tables, or a matrix with labels and, maybe, features."""
    if len(parts) in (2, 3) and _is_matrix(parts[0]):
        given = {"labels": parts[1], **({"features": parts[2]} if len(parts) == 3 else {})}
        return from_scipy(parts[0], **given, **options)
    if len(parts) == 2 and all(_is_table(part) for part in parts):
        return _tables(*parts, options)
    told = ", ".join(type(part).__name__ for part in parts[:4])
    raise InputError(f"({told}{', ...' if len(parts) > 4 else ''}) is not a graph; {_KNOWN}")


def _tables(edges: Any, nodes: Any, options: dict[str, Any]) -> Graph:
    from heterophily.data.tables import read_tables

    return read_tables(edges, nodes, **options)


def _is_matrix(value: Any) -> bool:
    return sp.issparse(value) or isinstance(value, np.ndarray)


def _is_table(value: Any) -> bool:
    """Whether a value is a file name or has columns, as tables of every library do."""
    if isinstance(value, str | os.PathLike):
        return True
    names = ("collect_schema", "columns", "column_names")  # the first: a lazy frame, not looked at
    return any(hasattr(value, name) for name in names)


def _type(value: Any) -> str:
    kind = type(value)
    name = kind.__qualname__
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"
