r"""The similarity matrix :math:`S(F, X) = F X (F X)^\top` of Eq. 5, as an operator: never N x N.

Its products need only A and X:
:math:`S\,Y = F\,(X\,(X^\top (F^\top Y)))`, in O((nnz(A) + nnz(X)) K) for Y of K columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import LOW, Filter
from heterophily.filters.normalization import Normalization, NormalizedAdjacency
from heterophily.metrics.label_counts import need_labels, one_hot_labels


@dataclass(frozen=True, eq=False)
class Similarity:
    """The matrix S(F, X) of a graph, (N, N), which is never built. Get it with :func:`similarity`.

    ``S @ Y`` multiplies, ``S.block(rows)`` gives some rows, ``S.blocks(size)`` goes through all of
    them, ``S.diagonal()`` is the squared length of each filtered row, and ``S.linear_operator()``
    is what SciPy's solvers take.
    """

    operator: NormalizedAdjacency
    features: Any  # (N, F), CSR or dense
    filter: Filter

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (N, N)."""
        return self.operator.shape

    def __matmul__(self, signal: ArrayLike) -> NDArray[np.float64]:
        """Return S times a signal of shape (N,) or (N, K)."""
        values = np.asarray(signal, dtype=np.float64)
        if values.ndim not in (1, 2) or len(values) != self.shape[0]:
            raise InputError(
                f"the signal has shape {values.shape}, expected ({self.shape[0]},) or "
                f"({self.shape[0]}, K)"
            )
        back = self.filter.identity * values
        if self.filter.aggregate:
            back = back + self.filter.aggregate * self.operator.transpose_matmul(values)
        return self._filtered(np.asarray(self.features @ (self.features.T @ back)))

    def _filtered(self, signal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return F times a signal."""
        found = self.filter.identity * signal
        if self.filter.aggregate:
            found = found + self.filter.aggregate * (self.operator @ signal)
        return found

    def block(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the rows of some nodes, (number of rows, N)."""
        chosen = np.atleast_1d(np.asarray(rows, dtype=np.int64))
        is_inside = chosen.size == 0 or 0 <= chosen.min() <= chosen.max() < self.shape[0]
        if chosen.ndim != 1 or not is_inside:
            raise InputError(f"rows must be numbers of nodes from 0 to {self.shape[0] - 1}")
        units = np.zeros((self.shape[0], chosen.size))
        units[chosen, np.arange(chosen.size)] = 1.0
        return np.ascontiguousarray((self @ units).T)  # S is symmetric

    def blocks(self, size: int = 256) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Go through all rows, ``size`` at a time: the slice of nodes and their rows."""
        if size < 1:
            raise InputError(f"size={size}; a block has at least one row")
        for start in range(0, self.shape[0], size):
            part = slice(start, min(start + size, self.shape[0]))
            yield part, self.block(np.arange(part.start, part.stop))

    def diagonal(self, size: int = 256) -> NDArray[np.float64]:
        """Return the similarity of each node to itself, (N,)."""
        found = np.empty(self.shape[0])
        for start in range(0, self.features.shape[1], size):  # S_vv = the sum of (F X)_vf squared
            part = self.features[:, start : start + size]
            dense = part.toarray() if sp.issparse(part) else np.asarray(part, dtype=np.float64)
            squares = np.square(self._filtered(dense)).sum(axis=1)
            found = squares if start == 0 else found + squares
        return found

    def linear_operator(self) -> LinearOperator:
        """Return S for SciPy's solvers, ``scipy.sparse.linalg.eigsh`` for example."""
        return LinearOperator(
            self.shape, matvec=self.__matmul__, matmat=self.__matmul__, rmatvec=self.__matmul__
        )


def similarity(
    graph: Graph,
    *,
    filter: Filter = LOW,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    use_labels: bool = False,
) -> Similarity:
    r"""Return how alike all pairs of nodes are after averaging, as a matrix never built (Eq. 5).

    .. math:: S(\hat A, X) = \hat A X (\hat A X)^\top

    :math:`S_{vu}` says how strongly node u pulls the prediction of node v towards its own class:
    one step of gradient descent moves the predictions of SGC by
    :math:`\gamma\, S(\hat A, X) (Z - Y)` (Eq. 6; ``examples/sgc_update.py`` shows it).
    ``filter=HIGH`` gives :math:`S(I - \hat A, X)` of section 4.1; ``use_labels`` takes the one-hot
    labels Z in place of X.

    >>> path = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1], features=np.eye(3))
    >>> similarity(path).block([0]).round(3).tolist()
    [[0.5, 0.333, 0.25]]
    >>> (similarity(path) @ np.ones(3)).round(3).tolist()
    [1.083, 1.0, 1.083]
    """
    features: Any = graph.features
    if use_labels:
        need_labels(graph, "the similarity S(Â, Z)")
        features = one_hot_labels(graph.labels, graph.num_classes)
    if features is None or features.shape[1] == 0:
        raise InputError(
            f"the similarity S(Â, X) of {graph.name!r} needs features, and the graph has none; "
            "use_labels=True takes the labels instead"
        )
    operator = NormalizedAdjacency.of(graph.adjacency, kind=normalization, renormalize=renormalize)
    kept = sp.csr_array(features, dtype=np.float64) if sp.issparse(features) else features
    return Similarity(operator, kept, filter)
