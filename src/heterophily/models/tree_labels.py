"""The labels of neighbours as columns for trees, cross-fitted: no node sees its own label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.filters.neighbour_labels import NeighbourLabels
from heterophily.layers.inputs import GraphInputs

FOLDS = 5


@dataclass(frozen=True, eq=False)
class _Mean:
    adjacency: sp.csr_array

    def mean(self, signal: Any, rows: NDArray[np.int64] | None = None) -> Any:
        matrix = self.adjacency if rows is None else self.adjacency[rows]
        total = np.asarray(matrix.sum(axis=1)).reshape(-1, 1)
        inverse = np.divide(1.0, total, out=np.zeros_like(total, float), where=total > 0)
        return (matrix @ signal) * inverse.astype(signal.dtype)


def draw_folds(train: NDArray[np.bool_], *, seed: int) -> NDArray[np.int64]:
    """Return the fold of each node, (N,): five for training nodes, a sixth for all others."""
    fold = np.full(train.size, FOLDS)
    nodes = np.flatnonzero(train)
    fold[nodes] = np.random.default_rng(seed).permutation(np.arange(nodes.size) % FOLDS)
    return fold


def label_columns(
    inputs: GraphInputs,
    labels: NDArray[np.int64],
    fold: NDArray[np.int64],
    *,
    num_classes: int,
) -> NDArray[np.float64]:
    """Return shares of the classes among neighbours, one and two edges away, and their number.

    Parameters
    ----------
    inputs
        The prepared graph, with A itself.
    labels
        (N,) classes of the training nodes; -1 everywhere else.
    fold
        Of :func:`draw_folds`. A training node sees the labels of the other folds, any other node
        those of all training nodes; so both see labels that are not their own.
    num_classes
        Number of classes C; there are 2 C + 2 columns, and as many for each type of edges that the
        graph was prepared with. Edges of a type count alike, whatever their weight.
    """
    if inputs.structure is None:
        raise InputError("labels of neighbours need A itself; prepare it with with_structure=True")
    if labels.size != inputs.num_nodes:
        raise InputError(
            f"the model was trained on {labels.size} nodes and the graph has {inputs.num_nodes}; "
            "a model that uses labels of neighbours works only on the graph it was trained on"
        )
    sizes = np.bincount(labels[labels >= 0], minlength=num_classes) + 1.0
    whole = _without_loops(inputs.structure.matrix.to_scipy())
    parts = [_without_loops(operator.matrix.to_scipy()) for operator in inputs.typed]
    for part in parts:
        part.data[:] = 1.0
    found = [
        NeighbourLabels.count(
            _Mean(adjacency), np.arange(labels.size), labels, fold, num_classes=num_classes
        ).columns(FOLDS, sizes / sizes.sum())
        for adjacency in (whole, *parts)
    ]
    return np.hstack(found)


def _without_loops(adjacency: sp.csr_array) -> sp.csr_array:
    found = adjacency.copy()  # the given one shares its memory with the prepared graph
    found.setdiag(0.0)
    found.eliminate_zeros()
    return found
