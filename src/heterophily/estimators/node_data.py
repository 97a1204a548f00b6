"""What a scikit-learn user hands over: a graph, node numbers or rows of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.checks import UNLABELLED
from heterophily.data.graph import Graph
from heterophily.data.interchange import as_graph
from heterophily.data.interchange.scipy import from_scipy
from heterophily.data.interchange.tensors import as_array
from heterophily.errors import InputError


@dataclass(frozen=True, eq=False)
class NodeData:
    """A graph, the label of each node, and which labels are known.

    Parameters
    ----------
    graph
        Edges and features; its own labels are not read any more.
    labels
        (N,) labels of any kind; what stands at an unknown node has no meaning.
    is_known
        (N,) mask of the nodes that have a label.
    """

    graph: Graph
    labels: NDArray[Any]
    is_known: NDArray[np.bool_]


def graph_if_one(X: Any) -> Any:
    """Return what stands for a whole graph as a graph, rows of features and numbers as they are."""
    parts = X if isinstance(X, tuple) else ()
    is_pair = any(sp.issparse(part) or hasattr(part, "columns") for part in parts)
    has_edges = hasattr(X, "edge_index") or (hasattr(X, "nodes") and hasattr(X, "edges"))
    return as_graph(X) if is_pair or has_edges else X


def labels_of(graph: Graph) -> NDArray[Any]:
    """Return the labels of a graph as its user knows them: class names, or numbers; None = none.

    >>> labels_of(Graph.from_edges([0], [1], labels=[7, 3])).tolist()
    [7, 3]
    """
    if all(name.isdecimal() for name in graph.class_names):
        names = [int(name) for name in graph.class_names]
        return np.array([*names, UNLABELLED])[graph.labels]
    return np.array([*graph.class_names, None], object)[graph.labels]


def whole_graph(graph: Graph, labels: Any) -> NodeData:
    """Read ``fit(graph)`` and ``fit(graph, y)``: y has a label for each node, -1 = unlabelled."""
    given = labels_of(graph) if labels is None else as_array(labels, "y")
    if given.shape != (graph.num_nodes,):
        raise InputError(f"y has shape {given.shape}, expected ({graph.num_nodes},): one per node")
    return NodeData(graph, given, is_labelled(given))


def some_nodes(graph: Graph, nodes: Any, labels: Any) -> NodeData:
    """Read ``fit(nodes, y)`` with a graph in the constructor: only these nodes have labels.

    >>> graph = Graph.from_edges([0, 1], [1, 2], num_nodes=3)
    >>> some_nodes(graph, [2, 0], ["x", "y"]).is_known
    array([ True, False,  True])
    """
    numbers = node_numbers(nodes, graph.num_nodes)
    given = as_array(labels, "y")
    if given.shape != numbers.shape:
        raise InputError(
            f"y has shape {given.shape}, expected ({numbers.size},): one per node number in X"
        )
    unique, counts = np.unique(numbers, return_counts=True)
    if unique.size < numbers.size:
        raise InputError(f"X names node {unique[counts > 1][0]} twice")
    everywhere = np.zeros(graph.num_nodes, given.dtype)
    everywhere[numbers] = given
    is_known = np.zeros(graph.num_nodes, np.bool_)
    is_known[numbers] = is_labelled(given)
    return NodeData(graph, everywhere, is_known)


def rows(features: Any, labels: NDArray[Any], adjacency: Any) -> NodeData:
    """Read ``fit(features, y, adjacency=...)``; without edges every row has a label."""
    is_known = np.ones(len(labels), np.bool_) if adjacency is None else is_labelled(labels)
    return NodeData(graph_of(features, adjacency), labels, is_known)


def graph_of(features: Any, adjacency: Any) -> Graph:
    """Return a graph without labels from features (N, F) and edges in one of three forms.

    ``adjacency`` is a sparse (N, N) matrix, an ``edge_index`` (2, E) of node numbers, or ``None``
    for no edges.

    >>> graph_of(np.eye(3), np.array([[0, 1], [1, 2]])).num_edges
    2
    """
    num_nodes = features.shape[0]
    if adjacency is None:
        return Graph(sp.csr_array((num_nodes, num_nodes), dtype=np.float32), features=features)
    if sp.issparse(adjacency):
        if adjacency.shape != (num_nodes, num_nodes):
            raise InputError(
                f"adjacency has shape {adjacency.shape}, expected ({num_nodes}, {num_nodes}): "
                "one row and one column for each row of X"
            )
        return from_scipy(adjacency, features=features)
    edges = as_array(adjacency, "adjacency")
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"adjacency is {edges.dtype} of shape {edges.shape}; give a SciPy sparse matrix (N, N) "
            "or an edge_index (2, E) of node numbers"
        )
    return Graph.from_edges(edges[0], edges[1], num_nodes=num_nodes, features=features)


def node_numbers(nodes: Any, num_nodes: int) -> NDArray[np.int64]:
    """Return node numbers (n,) from a vector or a single column; refuse what is none."""
    array = as_array(nodes, "X")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"X is {array.dtype} of shape {array.shape}; an estimator with a graph takes node "
            "numbers (n,), for example numpy.arange(graph.num_nodes)"
        )
    bad = np.flatnonzero((array < 0) | (array >= num_nodes))
    if bad.size:
        raise InputError(
            f"X names node {array[bad[0]]}; the graph has {num_nodes} nodes, numbered from 0"
        )
    return array.astype(np.int64)


def without_nan(labels: Any) -> Any:
    """Return labels in which NaN is None, or -1 among numbers; others as they are given.

    >>> without_nan(["red", float("nan")]).tolist(), without_nan([1.0, float("nan")]).tolist()
    (['red', None], [1, -1])
    """
    if labels is None or (
        getattr(labels, "dtype", None) is not None and labels.dtype.kind in "iubUS"
    ):
        return labels
    values = np.asarray(labels, dtype=object)
    if values.ndim != 1:
        return labels
    missing = ~is_labelled(values)
    if not missing.any():
        return labels
    known = values[~missing].tolist()
    if known and all(isinstance(label, (int, float, np.number)) for label in known):
        values[missing] = UNLABELLED
        numbers = np.array(values.tolist())
        whole = numbers.astype(np.int64)
        return whole if (whole == numbers).all() else numbers
    values[missing] = None
    return values


def plain_labels(data: NodeData) -> NodeData:
    """Return the data with labels of one kind in an array of that kind, instead of objects."""
    if data.labels.dtype.kind != "O":
        return data
    known = data.labels[data.is_known].tolist()
    kinds = (str, (bool, np.bool_), (int, float, np.number))
    if not any(all(isinstance(label, kind) for label in known) for kind in kinds):
        return data
    typed = np.array(known)
    labels = np.zeros(data.labels.shape, typed.dtype)
    labels[data.is_known] = typed
    return replace(data, labels=labels)


def is_labelled(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the mask of labels that are not -1, NaN or None.

    >>> is_labelled(np.array(["red", None, "blue"]))
    array([ True, False,  True])
    """
    if labels.dtype.kind in "if":
        return np.asarray((labels != UNLABELLED) & (labels == labels))
    if labels.dtype.kind == "O":
        known = [label is not None and label == label for label in labels.ravel()]
        return np.array(known, np.bool_).reshape(labels.shape)
    return np.ones(labels.shape, np.bool_)
