"""Generalised edge homophily: how alike the features at both ends of an edge are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError

_BLOCK = 4096  # rows worked on at a time


def generalized_edge_homophily(graph: Graph) -> float:
    r"""Mean cosine of the features at both ends of an edge, in [-1, 1] (Jin et al. 2022).

    .. math:: H_\text{GE} = \frac{1}{|E|} \sum_{(u, v) \in E}
                            \frac{x_u \cdot x_v}{\lVert x_u \rVert \lVert x_v \rVert}

    Labels are not looked at. A node without features has cosine 0 with everybody; with weights, a
    mean by weight.

    >>> path = Graph.from_edges([0, 1], [1, 2], features=np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> generalized_edge_homophily(path)
    0.5
    """
    name = f"generalized edge homophily of {graph.name!r} is undefined"
    if graph.features is None or graph.num_features == 0:
        raise InputError(f"{name}: the graph has no features")
    if graph.adjacency.nnz == 0:
        raise InputError(f"{name}: it has no edge")
    rows = unit_rows(graph.features)
    if not (rows.nnz if sp.issparse(rows) else rows.any()):
        raise InputError(f"{name}: all features are zero")
    total = 0.0
    for start in range(0, graph.num_nodes, _BLOCK):
        gathered = graph.adjacency[start : start + _BLOCK] @ rows
        own = rows[start : start + _BLOCK]
        product = own.multiply(gathered) if sp.issparse(own) else own * np.asarray(gathered)
        total += float(product.sum())
    return total / float(graph.adjacency.data.sum(dtype=np.float64))


def unit_rows(features: Any) -> Any:
    """Return rows of length 1, in float64; rows of zeros stay.

    >>> unit_rows(np.array([[0.0, 2.0], [0.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    matrix = sp.csr_array(features, dtype=np.float64) if sp.issparse(features) else features
    if sp.issparse(matrix):
        largest = abs(matrix).max(axis=1).toarray().reshape(-1)
    else:
        matrix = np.asarray(matrix, np.float64)
        largest = np.abs(matrix).max(axis=1, initial=0.0)
    matrix = _scaled(matrix, largest)  # first to at most 1: squares of huge numbers overflow
    return _scaled(matrix, np.sqrt(np.asarray((matrix**2).sum(axis=1)).reshape(-1)))


def _scaled(matrix: Any, by: Any) -> Any:
    inverse = np.divide(1.0, by, out=np.zeros_like(by), where=by > 0)
    if sp.issparse(matrix):
        return sp.csr_array(sp.diags_array(inverse) @ matrix)
    return matrix * inverse[:, None]
