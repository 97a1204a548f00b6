"""Which way signals travel along directed edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import scipy.sparse as sp

from heterophily.errors import lookup

EdgeDirection = Literal["given", "both", "reversed"]
EDGE_DIRECTIONS: tuple[EdgeDirection, ...] = get_args(EdgeDirection)

_TURNED: Mapping[str, Callable[[sp.csr_array], sp.csr_array]] = {
    "given": lambda adjacency: adjacency,
    "both": lambda adjacency: adjacency.maximum(adjacency.T),
    "reversed": lambda adjacency: adjacency.T,
}


def turned(adjacency: sp.csr_array, direction: EdgeDirection) -> sp.csr_array:
    """Return the adjacency (N, N) with its edges as given, in both directions, or reversed.

    Row v holds the nodes that v hears: those it points to (``"given"``), those that point to it
    (``"reversed"``), or either (``"both"``; of two weights the larger one holds).

    >>> one_way = sp.csr_array([[0.0, 1.0], [0.0, 0.0]])
    >>> turned(one_way, "both").toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    found = sp.csr_array(lookup(_TURNED, "edge direction", direction)(adjacency))
    found.sort_indices()
    return found


def is_one_way(adjacency: sp.csr_array) -> bool:
    """Whether some edge has no twin of the same weight in the other direction.

    >>> is_one_way(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    False
    """
    return bool((adjacency != adjacency.T).nnz)
