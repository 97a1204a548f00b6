"""GraphML and GEXF files, read and written through networkx."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError

import numpy as np
import scipy.sparse as sp

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.atomic import atomic_path
from heterophily.data.graph import Graph
from heterophily.data.interchange import from_networkx, to_networkx
from heterophily.data.markup_check import check_markup
from heterophily.data.wording import short
from heterophily.errors import InputError

SUFFIXES = (".graphml", ".gexf")
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")


def _suffix(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path.name}: the name must end in {' or '.join(SUFFIXES)}")
    return path.suffix.lower()


def read_markup(
    path: str | PathLike[str],
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = "weight",
    split: str | None = None,
    labels_are_classes: bool = False,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    name: str | None = None,
) -> Graph:
    """Read a ``.graphml`` or ``.gexf`` file.

    The options name attributes, as for :func:`~heterophily.data.interchange.from_networkx`;
    ``features`` is a list of attributes with one number each, by default feature_0, feature_1, ...
    (a missing one is 0). In GEXF the attribute ``label`` is a caption, so it holds the classes
    only when asked for. Ids that are all whole numbers become integers.
    """
    path = Path(path)
    suffix = _suffix(path)
    content = _parsed(path, suffix)
    if suffix == ".gexf" and label != "label":
        for _, data in content.nodes(data=True):
            data.pop("label", None)
    try:
        graph = from_networkx(
            content,
            label=label,
            features=features,
            weight=weight,
            split=split,
            labels_are_classes=labels_are_classes,
            direction=direction,
            self_loops=self_loops,
            name=name if name is not None else str(content.graph.get("name") or path.stem),
        )
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error
    if graph.adjacency.nnz == 0:
        raise InputError(f"{path.name}: no edge is left; a graph needs edges between its nodes")
    if graph.num_classes == 1:
        raise InputError(
            f"{path.name}: all labels are {short(graph.class_names[0])}; at least two classes are "
            "needed"
        )
    ids = graph.node_ids.tolist()
    if all(_INTEGER.fullmatch(str(node)) for node in ids):
        graph = graph.replace(node_ids=np.array([int(node) for node in ids]))
    return graph


def _parsed(path: Path, suffix: str) -> Any:
    """Return the file as a networkx graph; a damaged one ends in one sentence."""
    import networkx as nx

    if path.is_dir():
        raise InputError(f"{path} is a folder; name the file in it")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty")
    kind = "GraphML" if suffix == ".graphml" else "GEXF"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            declared = check_markup(path)
            found = nx.read_graphml(path) if suffix == ".graphml" else nx.read_gexf(path)
        if found.number_of_nodes() != declared:
            raise InputError(
                f"{path.name} declares {declared:,} nodes, but {found.number_of_nodes():,} can be "
                "read; keep one graph in a file"
            )
        return found
    except InputError:
        raise
    except (ParseError, ExpatError) as error:
        at = (error.lineno, error.offset) if isinstance(error, ExpatError) else error.position
        line, column = at
        raise InputError(
            f"{path.name}, line {line}, column {column + 1}: broken XML; the file may be cut off"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # networkx raises what it happens to stumble over
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise InputError(f"{path.name} is not a {kind} file that can be read: {reason}") from error


def write_markup(graph: Graph, path: str | PathLike[str]) -> None:
    """Write a ``.graphml`` or ``.gexf`` file that :func:`read_markup` reads back.

    Node attributes: class, split (or split_0, ...), feature_0, feature_1, ... of which the first
    node has all and others those that are not 0. The classes are read back in sorted order. Read
    a directed graph with ``direction="keep"``, self loops with ``self_loops="keep"``.
    """
    import networkx as nx

    path = Path(path)
    suffix = _suffix(path)
    if graph.edge_types is not None:
        raise InputError(
            f"{path.name}: types of edges are kept in .npz files and tables; write one of these, "
            "or graph.replace(edge_types=None)"
        )
    for kind, names in (("node id", graph.node_ids.tolist()), ("class name", graph.class_names)):
        for text in map(str, names):
            if not text or _NOT_IN_XML.search(text):
                raise InputError(
                    f"the {kind} {short(text)} is empty or has characters that XML cannot hold; "
                    "write .npz or tables instead"
                )
    content = to_networkx(graph.replace(features=None, name=_NOT_IN_XML.sub("", graph.name)))
    content.graph.pop("class_names", None)
    if graph.features is not None:
        _spread_features(content, graph)
    with atomic_path(path) as temporary:
        if suffix == ".graphml":
            nx.write_graphml(content, temporary)
        else:
            nx.write_gexf(content, temporary)


def _spread_features(content: Any, graph: Graph) -> None:
    """Give each node one attribute per non-zero feature, and the first node all of them."""
    matrix = sp.csr_array(graph.features)
    for row, node in enumerate(graph.node_ids.tolist()):
        if row == 0:
            columns, values = range(graph.num_features), matrix[[0]].toarray()[0].tolist()
        else:
            part = slice(matrix.indptr[row], matrix.indptr[row + 1])
            columns, values = matrix.indices[part].tolist(), matrix.data[part].tolist()
        content.nodes[node].update(
            (f"feature_{column}", float(value))
            for column, value in zip(columns, values, strict=True)
        )
