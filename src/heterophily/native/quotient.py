"""Nodes with the same neighbours share one aggregation: exact, and half the work on some graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_PAYS_BELOW = 0.75  # share of row reads that must remain at most


@dataclass(frozen=True, eq=False)
class Quotient:
    """``A = diag(scale) B + diag(diagonal)`` where B is 0/1 and constant on pairs of classes.

    ``members`` (G, N) says which nodes form a class, ``classes`` (G, G) which classes are beside
    each other.
    """

    members: sp.csr_array
    classes: sp.csr_array
    class_of: NDArray[np.int32]
    scale: NDArray[Any]
    diagonal: NDArray[Any]

    @property
    def row_reads(self) -> int:
        """Number of rows that a product reads."""
        return int(self.members.nnz + self.classes.nnz + self.class_of.size)


def quotient_of(matrix: sp.csr_array) -> Quotient | None:
    """Return the quotient of a square matrix, or None if it has none that pays.

    The entries of a row must be equal (diagonal aside) and the pattern symmetric: random-walk
    normalisation and the adjacency itself.

    >>> two_sides = sp.csr_array(np.kron([[0, 1], [1, 0]], np.ones((4, 4))))
    >>> quotient_of(two_sides).class_of.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    csr = sp.csr_array(matrix)
    nodes = csr.shape[0]
    diagonal = csr.diagonal()
    beside = csr - sp.dia_array((diagonal[None, :], [0]), shape=csr.shape)
    beside = sp.csr_array(beside)
    beside.eliminate_zeros()
    beside.sort_indices()
    counts = np.diff(beside.indptr)
    scale = np.zeros(nodes, csr.dtype)
    starts = beside.indptr[:-1][counts > 0]
    scale[counts > 0] = beside.data[starts]
    if not np.array_equal(np.repeat(scale, counts), beside.data):
        return None
    pattern = sp.csr_array((np.ones(beside.nnz), beside.indices, beside.indptr), shape=csr.shape)
    if (pattern != pattern.T).nnz:
        return None
    keys: dict[bytes, int] = {}
    class_of = np.empty(nodes, np.int32)
    for node in range(nodes):
        key = beside.indices[beside.indptr[node] : beside.indptr[node + 1]].tobytes()
        class_of[node] = keys.setdefault(key, len(keys))
    members = sp.csr_array((np.ones(nodes), (class_of, np.arange(nodes))), shape=(len(keys), nodes))
    first = np.full(len(keys), -1)
    first[class_of[::-1]] = np.arange(nodes)[::-1]
    classes = sp.csr_array(pattern[first] @ members.T)  # nodes beside, counted by class
    classes.data[:] = 1.0  # equal neighbourhoods: all of a class or none
    found = Quotient(members, classes, class_of, scale, diagonal)
    return found if found.row_reads < _PAYS_BELOW * csr.nnz else None
