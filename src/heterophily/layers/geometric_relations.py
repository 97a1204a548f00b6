"""Geom-GCN's neighbourhoods: on the graph and in the plane, split by direction."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from heterophily.layers.derived import derived
from heterophily.layers.landmark_isomap import landmark_isomap
from heterophily.layers.neighbourhoods import pattern_of
from heterophily.layers.propagation import Propagation

QUARTERS = 4
GROUPS = 2 * QUARTERS + 1  # graph and plane in four directions each, and the node itself
_BISECTIONS = 40


def quarter_of(receiver: NDArray[np.float64], sender: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the direction 0..3 in which the sender lies, from coordinates (E, 2) of both ends.

    >>> quarter_of(np.zeros((4, 2)), np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]))
    array([0, 1, 2, 3])
    """
    is_left = sender[:, 0] < receiver[:, 0]
    is_below = sender[:, 1] < receiver[:, 1]
    return is_left.astype(np.int64) + 2 * is_below


def near_pairs(points: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    r"""Return the pairs nearer than :math:`\rho`, (P, 2), each once; at most ``count`` of them.

    :math:`\rho` is the largest radius that gives no more than ``count`` pairs, so that nodes have
    as many neighbours in the plane as on the graph, on average. Where more nodes than that share
    one point there are no pairs.

    >>> near_pairs(np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]), 1).tolist()
    [[0, 1]]
    """
    if len(points) < 2 or count < 1:
        return np.empty((0, 2), np.int64)
    tree = cKDTree(points)

    def pairs_within(radius: float) -> int:
        return (int(tree.count_neighbors(tree, radius)) - len(points)) // 2

    low, widest = 0.0, float(np.ptp(points, axis=0).sum()) + 1.0
    if pairs_within(low) > count:
        return np.empty((0, 2), np.int64)
    high = widest / len(points)  # double it until it is too wide: wide radii are slow to count
    while high < widest and pairs_within(high) <= count:
        low, high = high, 2.0 * high
    high = min(high, widest)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if pairs_within(middle) <= count else (low, middle)
    return np.asarray(tree.query_pairs(low, output_type="ndarray"), dtype=np.int64).reshape(-1, 2)


@derived
def geometric_operators(structure: Propagation) -> tuple[Propagation, ...]:
    r"""Return the nine operators of Geom-GCN, each with values :math:`1 / \sqrt{d_v d_u}`.

    Four directions of the graph's neighbours, four of the neighbours in the plane, the node
    itself. Degrees are those of the graph with loops. Nodes without an edge have no place in the
    plane and no neighbours there.
    """
    return _operators(structure, counts_plane=False)


@derived
def geometric_operators_of_both(structure: Propagation) -> tuple[Propagation, ...]:
    """Return the nine operators with degrees that count neighbours on the graph or in the plane.

    A node that is a neighbour in both counts once, as in the released program.
    """
    return _operators(structure, counts_plane=True)


DEGREES = {"graph": geometric_operators, "both": geometric_operators_of_both}
"""Which neighbours the degrees count."""


def _operators(structure: Propagation, *, counts_plane: bool) -> tuple[Propagation, ...]:
    pattern = pattern_of(structure)
    num_nodes = pattern.shape[0]
    degree = np.diff(pattern.indptr)
    points = np.round(landmark_isomap(pattern), 7)
    placed = np.flatnonzero(degree > 0)
    pairs = placed[near_pairs(points[placed], pattern.nnz // 2)]
    rows, columns = pattern.nonzero()
    places = [
        (rows, columns),
        (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])),
    ]
    if counts_plane:
        ends = [np.concatenate(sides) for sides in zip(*places, strict=True)]
        joined = sp.csr_array((np.ones(len(ends[0])), tuple(ends)), shape=pattern.shape)
        joined.sum_duplicates()
        degree = np.diff(joined.indptr)
    root = 1.0 / np.sqrt(degree + 1.0)
    nodes = np.arange(num_nodes)
    groups = []
    for receiver, sender in places:
        quarter = quarter_of(points[receiver], points[sender])
        groups += [(receiver[quarter == k], sender[quarter == k]) for k in range(QUARTERS)]
    return tuple(
        Propagation.from_scipy(
            sp.csr_array((root[r] * root[c], (r, c)), shape=(num_nodes, num_nodes)),
            dtype=structure.matrix.dtype,
            device=structure.matrix.device,
        )
        for r, c in [*groups, (nodes, nodes)]
    )
