"""The columns that trees see: a node's own features, ACM's channels of them, and its degree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.sparse_features import SparseFeatures


def features_of(inputs: GraphInputs) -> Any:
    """Return X, (N, F), as it is stored: dense or CSR."""
    if isinstance(inputs.features, SparseFeatures):
        return inputs.features.matrix.to_scipy()
    return inputs.features.cpu().numpy()


def _low(features: Any, inputs: GraphInputs, *, hops: int = 1) -> Any:
    operator = inputs.operator.matrix.to_scipy()
    for _ in range(hops):
        features = operator @ features
    return features


def _degree(inputs: GraphInputs) -> Any:
    """Return the total weight of each node's edges, (N, 1)."""
    if inputs.structure is None:
        raise InputError("degrees need A itself; prepare the graph with with_structure=True")
    return inputs.structure.matrix.to_scipy().sum(axis=1).reshape(-1, 1)


def _neighbour_degree(inputs: GraphInputs) -> Any:
    """Return the mean of log(1 + degree) over each node's neighbours, (N, 1); 0 without any.

    It tells nodes that deal with hubs (shops, popular pages) from those that do not.
    """
    degree = _degree(inputs)
    around = inputs.structure.matrix.to_scipy() @ np.log1p(degree)  # type: ignore[union-attr]
    return around / np.where(degree > 0, degree, 1.0)


COLUMNS: Mapping[str, Callable[[Any, GraphInputs], Any]] = {
    "own": lambda features, inputs: features,
    "low": _low,
    "high": lambda features, inputs: features - _low(features, inputs),
    "low-2": partial(_low, hops=2),
    "degree": lambda features, inputs: _degree(inputs),
    "neighbour-degree": lambda features, inputs: _neighbour_degree(inputs),
}
"""Blocks of columns: X, ÂX, X - ÂX, Â²X, the degree, and the mean degree of neighbours."""

JUDGES = 10_000
"""So many nodes at most decide which features trees see."""

SINGLE = ("degree", "neighbour-degree")
"""Blocks of one column each; the others have one for each feature."""


def columns_of(
    inputs: GraphInputs, blocks: Sequence[str], kept: NDArray[np.int64] | None = None
) -> Any:
    """Return the blocks side by side, (N, K): CSR if one of them is, else dense.

    ``kept`` are the features that are used, by default all of them.

    >>> from heterophily.data.graph import Graph
    >>> from heterophily.layers.inputs import InputOptions
    >>> graph = Graph.from_edges([0], [1], features=[[1.0], [3.0]], labels=[0, 1])
    >>> inputs = GraphInputs.from_graph(graph, InputOptions(features="as-given"))
    >>> columns_of(inputs, ["own", "low", "high"]).tolist()
    [[1.0, 2.0, -1.0], [3.0, 2.0, 1.0]]
    """
    features = features_of(inputs)
    features = features if kept is None else features[:, kept]
    found = [COLUMNS[block](features, inputs) for block in blocks]
    if any(sp.issparse(block) for block in found):
        return sp.csr_array(sp.hstack(found, format="csr"))
    return np.hstack(found)


def column_names(kept: Sequence[int], blocks: Sequence[str]) -> list[tuple[str, int | None]]:
    """Return block and feature number of each column, in the order of :func:`columns_of`."""
    names: list[tuple[str, int | None]] = []
    for block in blocks:
        numbers: Sequence[int | None] = [None] if block in SINGLE else kept
        names += [(block, number) for number in numbers]
    return names


def telling_features(
    inputs: GraphInputs, labels: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Return the numbers of at most so many features, those that tell the classes apart best.

    A feature is judged on nodes with a label (those of training, -1 elsewhere) by the share of its
    variance between the classes: its own value, or the mean over neighbours, whichever tells more.
    Of more than ``JUDGES`` such nodes, evenly chosen ones decide: with thousands of features the
    means over neighbours of all nodes would take longer than the trees.
    """
    features = features_of(inputs)
    if features.shape[1] <= most:
        return np.arange(features.shape[1])
    known = np.flatnonzero(labels >= 0)
    if known.size > JUDGES:
        known = known[np.linspace(0, known.size - 1, JUDGES).astype(np.int64)]
    around = inputs.operator.matrix.to_scipy()[known] @ features
    score = np.maximum(
        variance_between(features[known], labels[known]),
        variance_between(around, labels[known]),
    )
    return np.sort(np.argsort(-score, kind="stable")[:most])


def variance_between(rows: Any, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each column's variance that lies between the classes, (F,).

    >>> rows = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
    >>> variance_between(rows, np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    count = max(1, labels.size)
    groups = sp.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))))
    sums = groups @ rows
    sums = np.asarray(sums.toarray() if sp.issparse(sums) else sums, np.float64)  # (C, F)
    sizes = np.maximum(1.0, np.bincount(labels))[:, None]
    square = rows.multiply(rows) if sp.issparse(rows) else rows * rows
    centre = sums.sum(axis=0) ** 2 / count
    total = np.asarray(square.sum(axis=0), np.float64).reshape(-1) - centre
    between = (sums**2 / sizes).sum(axis=0) - centre
    shares: NDArray[np.float64] = np.zeros_like(total)
    np.divide(between, total, out=shares, where=total > 1e-12)
    return shares
