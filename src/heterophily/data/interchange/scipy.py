"""Graphs from and to SciPy sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from heterophily.data.adjacency import Direction, SelfLoops, adjacency_from_edges
from heterophily.data.graph import Graph
from heterophily.data.labels import named_labels
from heterophily.errors import InputError


def from_scipy(
    adjacency: Any,
    *,
    features: Any = None,
    labels: ArrayLike | None = None,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    **parts: Any,
) -> Graph:
    """Build a graph from an (N, N) adjacency matrix, sparse or dense; 0 means no edge.

    Entry ``[u, v]`` is the edge from u to v; entries other than 1 are weights. Entries that a
    sparse matrix stores twice add up, as they do in SciPy. Labels are class names (None or empty =
    unlabelled) or whole numbers (-1 = unlabelled). ``parts`` are further fields of
    :class:`~heterophily.data.graph.Graph`.

    >>> from_scipy(sp.csr_array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]), labels=[0, 1, 1])
    Graph('graph', nodes=3, edges=2, features=0, classes=2)
    """
    shape = np.shape(adjacency)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"the adjacency matrix has shape {shape}, expected (N, N)")
    try:
        given = adjacency.astype(np.float64) if sp.issparse(adjacency) else adjacency
        matrix = sp.csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"the adjacency matrix does not hold numbers: {error}") from error
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise InputError(
            f"adjacency[{row}, {matrix.indices[bad[0]]}] = {matrix.data[bad[0]]}; edge weights "
            "must be finite and not negative"
        )
    matrix.eliminate_zeros()
    coo = matrix.tocoo()
    remarks: tuple[str, ...] = tuple(parts.pop("remarks", ()))
    if labels is not None and np.asarray(labels).dtype.kind in "UO":
        classes = named_labels(np.asarray(labels), place="labels")
        labels = classes.labels
        parts, remarks = {"class_names": classes.names, **parts}, (*remarks, *classes.remarks)
    is_weighted = bool((coo.data != 1).any())
    canonical, notes = adjacency_from_edges(
        coo.row,
        coo.col,
        num_nodes=shape[0],
        weight=coo.data if is_weighted else None,
        direction=direction,
        self_loops=self_loops,
    )
    return Graph(
        canonical,
        features=features,
        labels=labels,  # type: ignore[arg-type]
        is_directed=direction == "keep",
        notes=notes,
        remarks=remarks,
        **parts,
    )


def to_scipy(graph: Graph) -> sp.csr_array:
    """Return the adjacency matrix (N, N) as a copy that may be written to.

    >>> to_scipy(Graph.from_edges([0], [1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return graph.adjacency.copy()
