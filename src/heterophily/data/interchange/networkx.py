"""Graphs from and to networkx."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.adjacency import Direction, SelfLoops, adjacency_from_edges
from heterophily.data.graph import Graph
from heterophily.data.interchange.attributes import NodeAttributes
from heterophily.data.leaks import leak_remarks
from heterophily.data.splits import PARTS
from heterophily.data.wording import short
from heterophily.errors import InputError

_CELLS = ("train", "val", "test")


def from_networkx(
    graph: Any,
    *,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    weight: str | None = "weight",
    split: str | None = None,
    labels_are_classes: bool = False,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    name: str | None = None,
) -> Graph:
    """Build a graph from a networkx graph of any kind; nodes keep their order.

    Parameters
    ----------
    graph
        ``Graph``, ``DiGraph`` or a multigraph, whose parallel edges are merged (weights add up).
    label
        Node attribute with the class: names or 0, 1, 2, ...; missing or ``None`` = unlabelled.
        By default the first of class, y, label that occurs.
    features
        A node attribute that holds a vector (a list, an array, or a dictionary column -> value),
        or a list of attributes that hold one number each. By default ``x``, if it occurs, else
        feature_0, feature_1, ..., where a missing one is 0.
    weight
        Edge attribute with the weight, used if it occurs; ``None`` for no weights.
    split
        Node attribute with train, val or test. By default split, or split_0, split_1, ...
    labels_are_classes
        Take every distinct label as a class, even if the attribute looks like numbers on a scale,
        several labels in one value, or ids.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.karate_club_graph(), label="club", weight=None, name="karate")
    Graph('karate', nodes=34, edges=78, features=0, classes=2)
    """
    for method in ("nodes", "edges", "is_directed"):
        if not hasattr(graph, method):
            raise InputError(f"{type(graph).__name__} is not a networkx graph: it has no {method}")
    remarks: list[str] = []
    attributes = [data for _, data in graph.nodes(data=True)]
    node_ids = _node_ids(list(graph.nodes), remarks)
    adjacency, notes = _adjacency(graph, weight, direction, self_loops, remarks)
    reader = NodeAttributes(node_ids, attributes)
    labels, class_names = reader.labels(
        label,
        graph.graph.get("class_names"),
        labels_are_classes=labels_are_classes,
        remarks=remarks,
    )
    matrix = reader.features(features, graph.graph.get("num_features"))
    splits = reader.splits(split)
    remarks.extend(leak_remarks(matrix, labels, reader.feature_names))
    if reader.unused:
        remarks.append(f"node attributes ignored: {', '.join(reader.unused)}")
    known = graph.graph.get("name") or "graph"
    return Graph(
        adjacency,
        features=matrix,
        labels=labels,  # type: ignore[arg-type]
        class_names=class_names,  # type: ignore[arg-type]
        node_ids=node_ids,
        splits=splits,
        name=str(known) if name is None else name,
        is_directed=direction == "keep",
        notes=notes,
        remarks=tuple(remarks),
    )


def _node_ids(nodes: list[Any], remarks: list[str]) -> NDArray[Any]:
    """Return the nodes as integers or strings; other objects by their text."""
    if not nodes:
        raise InputError("the networkx graph has no nodes")
    is_whole = [isinstance(node, int | np.integer) and not isinstance(node, bool) for node in nodes]
    if all(is_whole) and all(-(2**63) <= node < 2**63 for node in nodes):
        return np.array([int(node) for node in nodes], np.int64)
    if not all(isinstance(node, str) for node in nodes):
        remarks.append("node ids are the nodes written as text")
    return np.array([str(node) for node in nodes])


def _adjacency(
    graph: Any,
    weight: str | None,
    direction: Direction,
    self_loops: SelfLoops,
    remarks: list[str],
) -> Any:
    number = {node: index for index, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data=weight)) if weight is not None else list(graph.edges(data=False))
    source = np.fromiter((number[edge[0]] for edge in edges), np.int64, len(edges))
    target = np.fromiter((number[edge[1]] for edge in edges), np.int64, len(edges))
    weights = None
    given = [] if weight is None else [edge[2] for edge in edges]
    missing = sum(value is None for value in given)
    if missing < len(given):
        if missing:
            remarks.append(f"{missing} edges without the attribute {weight!r} have weight 1")
        weights = np.array([_number(value, edge, weight) for value, edge in zip(given, edges)])  # noqa: B905
    if not graph.is_directed() and direction == "keep":
        apart = source != target
        source, target = (
            np.concatenate([source, target[apart]]),
            np.concatenate([target, source[apart]]),
        )
        weights = None if weights is None else np.concatenate([weights, weights[apart]])
    matrix, notes = adjacency_from_edges(
        source,
        target,
        num_nodes=len(number),
        weight=weights,
        direction=direction,
        self_loops=self_loops,
    )
    if not graph.is_directed():  # an edge of an undirected graph has no direction to lose
        notes = replace(notes, rows=len(edges), one_way=0, unequal_weights=0)
    return matrix, notes


def _number(value: Any, edge: tuple[Any, ...], weight: str | None) -> float:
    if value is None:
        return 1.0
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number >= 0):
        raise InputError(
            f"edge ({edge[0]!r}, {edge[1]!r}): {weight} = {short(value)}; edge weights must be "
            "finite and not negative"
        )
    return number


def to_networkx(graph: Graph) -> Any:
    """Return a ``networkx.Graph`` (``DiGraph`` if directed) that :func:`from_networkx` reads back.

    Nodes are the node ids. Node attributes: ``class`` (the class name, of labelled nodes), ``x``
    (an array, or for CSR features a dictionary column -> value), ``split`` or split_0, split_1,
    ... Edges carry ``weight`` if the graph is weighted. Graph attributes: name, class_names,
    num_features.

    >>> to_networkx(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])).nodes(data="class")
    NodeDataView({0: '0', 1: '0', 2: '1'}, data='class')
    """
    import networkx as nx

    result = (nx.DiGraph if graph.is_directed else nx.Graph)(name=graph.name)
    ids = graph.node_ids.tolist()
    result.add_nodes_from(ids)
    if graph.num_classes:
        result.graph["class_names"] = list(graph.class_names)
        names = graph.class_names
        values = {
            ids[node]: names[graph.labels[node]] for node in np.flatnonzero(graph.is_labelled)
        }
        nx.set_node_attributes(result, values, "class")
    if graph.features is not None:
        result.graph["num_features"] = graph.num_features
        nx.set_node_attributes(result, dict(zip(ids, _rows(graph.features), strict=True)), "x")
    if graph.splits is not None:
        for index, split in enumerate(graph.splits):
            name = "split" if len(graph.splits) == 1 else f"split_{index}"
            for part, cell in zip(PARTS, _CELLS, strict=True):
                nodes = np.flatnonzero(getattr(split, part))
                nx.set_node_attributes(result, {ids[node]: cell for node in nodes}, name)
    matrix = graph.adjacency if graph.is_directed else sp.triu(graph.adjacency, format="csr")
    coo = matrix.tocoo()
    ends = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    if graph.is_weighted:
        result.add_weighted_edges_from((ids[u], ids[v], weight) for u, v, weight in ends)
    else:
        result.add_edges_from((ids[u], ids[v]) for u, v, _ in ends)
    return result


def _rows(features: Any) -> Any:
    """Return the feature vector of each node: arrays, or dictionaries where they are sparse."""
    if not sp.issparse(features):
        return features.copy()
    cuts = features.indptr
    return (
        dict(zip(features.indices[a:b].tolist(), features.data[a:b].tolist(), strict=True))
        for a, b in pairwise(cuts)
    )
