"""Types of edges: one adjacency matrix for each, beside the one of all edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.adjacency import Direction, EdgeNotes, SelfLoops, adjacency_from_edges
from heterophily.data.wording import listed, short
from heterophily.errors import InputError

MOST = 64
"""A graph has at most so many types of edges."""

EMPTY = "(empty)"
"""Name of the type of edges whose cell is empty."""


@dataclass(frozen=True, eq=False)
class EdgeTypes:
    """The names of the types and, for each, the (N, N) CSR matrix of its edges.

    A pair of nodes may be linked by several types. Every entry of the graph's adjacency matrix is
    an entry of some type; where edges have weights, its weight is the sum over the types.
    """

    names: tuple[str, ...]
    matrices: tuple[sp.csr_array, ...]

    def __post_init__(self) -> None:
        """Check the names."""
        if len(self.names) != len(self.matrices) or len(set(self.names)) != len(self.names):
            raise InputError(
                f"{len(self.matrices)} types of edges need as many different names; there are "
                f"{listed(list(self.names))}"
            )

    def matrix(self, name: str) -> sp.csr_array:
        """Return the edges of one type; names that do not exist are refused."""
        if name not in self.names:
            raise InputError(f"no type of edges {short(name)}; types: {listed(list(self.names))}")
        return self.matrices[self.names.index(name)]

    def rows(self, *, is_directed: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return edges as a list: (2, E) ends, E weights, E codes of types; a pair once."""
        parts = [
            sp.coo_array(matrix if is_directed else sp.triu(matrix, format="csr"))
            for matrix in self.matrices
        ]
        ends = np.concatenate([np.stack(part.coords) for part in parts], axis=1)
        weights = np.concatenate([part.data.astype(np.float64) for part in parts])
        return ends, weights, np.repeat(np.arange(len(parts)), [part.nnz for part in parts])


def coded(
    types: ArrayLike, rows: int, names: Sequence[str] | None = None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return types, given per edge as words or (with ``names``) as codes, as codes and names.

    >>> coded(["owns", "likes", "owns"], 3)
    (array([1, 0, 1]), ('likes', 'owns'))
    """
    array = np.asarray(types)
    if array.shape != (rows,):
        raise InputError(f"edge_type has shape {array.shape}, expected ({rows},): one per edge")
    if names is None:
        found, codes = np.unique(array.astype(np.str_), return_inverse=True)
        names = tuple(str(name) or EMPTY for name in found)
    else:
        codes = array
        if array.dtype.kind not in "iu" or (
            rows and not 0 <= array.min() <= array.max() < len(names)
        ):
            raise InputError(f"edge_type must hold numbers from 0 to {len(names) - 1}")
    if len(names) > MOST:
        raise InputError(
            f"there are {len(names):,} types of edges; at most {MOST} can be kept apart"
        )
    return codes.astype(np.int64), tuple(names)


def typed_adjacency(
    ends: Sequence[NDArray[Any]],
    types: tuple[NDArray[np.int64], tuple[str, ...]],
    *,
    num_nodes: int,
    weight: NDArray[Any] | None = None,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
) -> tuple[sp.csr_array, EdgeNotes, EdgeTypes]:
    """Return the adjacency of all edges, what was done to get it, and the edges of each type.

    ``ends`` are the two ends of each edge, ``types`` what :func:`coded` returns. A type of which
    no edge is left (all are self loops, or of weight 0) is left out.
    """
    how: dict[str, Any] = {
        "num_nodes": num_nodes, "direction": direction, "self_loops": self_loops
    }  # fmt: skip
    (source, target), (codes, names) = ends, types
    adjacency, notes = adjacency_from_edges(source, target, weight=weight, **how)
    found: dict[str, sp.csr_array] = {}
    for code, name in enumerate(names):
        rows = codes == code
        part, _ = adjacency_from_edges(
            source[rows], target[rows], weight=None if weight is None else weight[rows], **how
        )
        if part.nnz:
            found[name] = part
    if weight is not None and found:
        adjacency = sp.csr_array(sum(found.values()))
        adjacency.sort_indices()
    return adjacency, notes, EdgeTypes(tuple(found), tuple(found.values()))
