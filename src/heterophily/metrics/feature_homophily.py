"""Feature homophily: how strongly features depend on those of neighbours, within classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.label_counts import need_labels

Floats = NDArray[np.float64]
_BLOCK = 64  # columns worked on at a time
_DENSE = 64  # up to so many nodes all eigenvalues are computed


def feature_homophily(graph: Graph) -> float:
    r"""Mean dependence of feature columns on the neighbours', in [-1, 1] (h_F, the third part of
    Tri-Hom; Zheng et al. 2024, "What is missing in homophily?").

    Features are thought of as :math:`X = (I - \omega A / \rho(A))^{-1} X_0`, where :math:`\rho` is
    the spectral radius and :math:`X_0` varies around one mean per class. Of a column x the share is

    .. math:: \omega^* = \arg\min_{\omega \in [-1, 1]} \sum_v
              \big((x - \omega z)_v - \overline{(x - \omega z)}_{z_v}\big)^2, \qquad
              z = A x / \rho(A)

    which is a parabola: :math:`\omega^* = \langle x', z' \rangle / \langle z', z' \rangle`, cut to
    [-1, 1], where the prime subtracts the mean of the class. (The released program tries the 201
    values -1, -0.99, ..., 1.) Columns whose z' is zero say nothing and are left out. Loops are left
    out; only labelled nodes are summed.

    >>> signs = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], labels=[0, 0, 0, 0], features=signs)
    >>> round(feature_homophily(ring), 12)
    -1.0
    """
    name = f"feature homophily of {graph.name!r} is undefined"
    need_labels(graph, "feature homophily")
    if graph.features is None or graph.num_features == 0:
        raise InputError(f"{name}: the graph has no features")
    adjacency = sp.csr_array(graph.adjacency, dtype=np.float64, copy=True)
    adjacency.setdiag(0.0)
    adjacency.eliminate_zeros()
    radius = spectral_radius(adjacency)
    if radius <= 0.0:
        raise InputError(f"{name}: no edge leads on to another one")
    rows = np.flatnonzero(graph.labels >= 0)
    means = _class_means(graph.labels[rows], graph.num_classes)
    found = []
    for start in range(0, graph.num_features, _BLOCK):
        columns = _dense(graph.features[:, start : start + _BLOCK])
        scale = np.abs(columns).max(axis=0, initial=0.0)  # squares of huge numbers overflow
        columns = columns / np.where(scale > 0, scale, 1.0)
        moved = np.asarray(adjacency @ columns) / radius
        own, around = (_within(part[rows], means, graph.labels[rows]) for part in (columns, moved))
        size = (around**2).sum(axis=0)
        is_some = size > 1e-20 * rows.size
        share = (own * around).sum(axis=0)[is_some] / size[is_some]
        found.append(np.clip(share, -1.0, 1.0))
    shares = np.concatenate(found)
    if shares.size == 0:
        raise InputError(f"{name}: the neighbours' features do not differ within any class")
    return float(shares.mean())


def spectral_radius(adjacency: sp.csr_array) -> float:
    """Return the largest absolute eigenvalue of a matrix without negative entries.

    >>> round(spectral_radius(sp.csr_array([[0.0, 1.0], [1.0, 0.0]])), 12)
    1.0
    """
    count = adjacency.shape[0]
    if adjacency.nnz == 0:
        return 0.0
    if count <= _DENSE:
        return float(np.abs(np.linalg.eigvals(adjacency.toarray())).max())
    from scipy.sparse.linalg import ArpackError, eigs, eigsh

    is_symmetric = (adjacency != adjacency.T).nnz == 0
    solve: Any = eigsh if is_symmetric else eigs
    begin = np.ones(count) / np.sqrt(count)  # not at random: the same graph, the same digits
    try:
        values = solve(adjacency, k=1, which="LM", v0=begin, return_eigenvectors=False, tol=1e-10)
    except ArpackError:  # all eigenvalues are zero: no directed cycle
        return 0.0
    return float(np.abs(values).max())


def _class_means(labels: NDArray[np.int64], num_classes: int) -> sp.csr_array:
    """Return the matrix (C, N) that averages over each class."""
    sizes = np.bincount(labels, minlength=num_classes)
    weights = 1.0 / sizes[labels]
    places = (labels, np.arange(labels.size))
    return sp.csr_array((weights, places), shape=(num_classes, labels.size))


def _within(values: Floats, means: sp.csr_array, labels: NDArray[np.int64]) -> Floats:
    """Subtract the mean of its class from each row."""
    return np.asarray(values - (means @ values)[labels])


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, np.float64)
