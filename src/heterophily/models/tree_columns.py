"""The columns that trees see: a node's own features, ACM's channels of them, and its degree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.sparse_features import SparseFeatures


def _own(inputs: GraphInputs) -> Any:
    """Return X, (N, F), as it is stored: dense or CSR."""
    if isinstance(inputs.features, SparseFeatures):
        return inputs.features.matrix.to_scipy()
    return inputs.features.cpu().numpy()


def _low(inputs: GraphInputs, *, hops: int) -> Any:
    found, operator = _own(inputs), inputs.operator.matrix.to_scipy()
    for _ in range(hops):
        found = operator @ found
    return found


def _high(inputs: GraphInputs) -> Any:
    return _own(inputs) - _low(inputs, hops=1)


def _degree(inputs: GraphInputs) -> Any:
    """Return the total weight of each node's edges, (N, 1)."""
    if inputs.structure is None:
        raise InputError("degrees need A itself; prepare the graph with with_structure=True")
    return inputs.structure.matrix.to_scipy().sum(axis=1).reshape(-1, 1)


COLUMNS: Mapping[str, Callable[[GraphInputs], Any]] = {
    "own": _own,
    "low": partial(_low, hops=1),
    "high": _high,
    "low-2": partial(_low, hops=2),
    "degree": _degree,
}
"""Blocks of columns: X, ÂX, X - ÂX, Â²X and the degree."""


def columns_of(inputs: GraphInputs, blocks: Sequence[str]) -> Any:
    """Return the blocks side by side, (N, K): CSR if one of them is, else dense.

    >>> from heterophily.data.graph import Graph
    >>> from heterophily.layers.inputs import InputOptions
    >>> graph = Graph.from_edges([0], [1], features=[[1.0], [3.0]], labels=[0, 1])
    >>> inputs = GraphInputs.from_graph(graph, InputOptions(row_normalize=False))
    >>> columns_of(inputs, ["own", "low", "high"]).tolist()
    [[1.0, 2.0, -1.0], [3.0, 2.0, 1.0]]
    """
    found = [COLUMNS[block](inputs) for block in blocks]
    if any(sp.issparse(block) for block in found):
        return sp.csr_array(sp.hstack(found, format="csr"))
    return np.hstack(found)


def column_names(num_features: int, blocks: Sequence[str]) -> list[tuple[str, int | None]]:
    """Return block and feature number of each column, in the order of :func:`columns_of`."""
    names: list[tuple[str, int | None]] = []
    for block in blocks:
        numbers: Sequence[int | None] = [None] if block == "degree" else range(num_features)
        names += [(block, number) for number in numbers]
    return names
