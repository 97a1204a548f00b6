"""WRGAT's computation graph: nodes of similar role, however far apart they are."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.layers.derived import derived
from heterophily.layers.graph_order import structural_colours
from heterophily.layers.neighbourhoods import pattern_of, two_hop_pattern
from heterophily.layers.propagation import Propagation

HOPS = 3  # rings at distance 0, 1 and 2
RELATIONS = 1 + HOPS  # the graph itself, and one for each ring
_SHARES = np.linspace(0.0, 1.0, 5)  # of a ring's sorted degrees


def ring_profile(ring: sp.csr_array, degree: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return five quantiles of the log degrees in each node's ring, (N, 5); 0 for an empty ring.

    >>> ring = sp.csr_array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> np.exp(ring_profile(ring, np.array([1.0, 3.0, 3.0])))[0].round(6).tolist()
    [4.0, 4.0, 4.0, 4.0, 4.0]
    """
    counts = np.diff(ring.indptr)
    rows = np.repeat(np.arange(ring.shape[0]), counts)
    values = np.log1p(degree[ring.indices])
    values = values[np.lexsort((values, rows))]
    profile = np.zeros((ring.shape[0], _SHARES.size))
    filled = counts > 0
    place = ring.indptr[:-1][filled, None] + np.rint((counts[filled, None] - 1) * _SHARES)
    profile[filled] = values[place.astype(np.int64)]
    return profile


def structural_edges(pattern: sp.csr_array) -> list[sp.csr_array]:
    r"""Return, for the rings up to distance 0, 1 and 2, nodes of similar role with their weights.

    As in struc2vec (Ribeiro et al. 2017), which WRGAT builds on: the distance of two nodes adds up
    over the rings around them, each weight is :math:`e^{-\text{distance}}`, and each node is
    compared only with the :math:`2 \log_2 N` nodes nearest to it in the order of degrees. The
    distance of two rings is that between the quantiles of their degrees, in place of dynamic time
    warping, which takes quadratic time in the length of the rings.
    """
    degree = np.asarray(np.diff(pattern.indptr), dtype=np.float64)
    itself = sp.eye_array(pattern.shape[0], format="csr")
    rings = [sp.csr_array(itself), pattern, two_hop_pattern(pattern)]
    profiles = [ring_profile(ring, degree) for ring in rings]
    keys = [structural_colours(pattern), *profiles[2].T, *profiles[1].T, degree]
    order = np.lexsort(keys)
    pairs = _neighbours_in_order(order)
    distance = np.zeros(len(pairs))
    found = []
    for profile in profiles:
        distance = distance + np.abs(profile[pairs[:, 0]] - profile[pairs[:, 1]]).mean(axis=1)
        weights = np.exp(-distance)
        found.append(sp.csr_array((weights, tuple(pairs.T)), shape=pattern.shape))
    return found


def _neighbours_in_order(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pair each node with the nodes up to log2(N) places before and after it."""
    size = len(order)
    reach = min(max(1, math.ceil(math.log2(max(size, 2)))), size - 1)
    pairs = [np.stack([order[step:], order[: size - step]], axis=1) for step in range(1, reach + 1)]
    one_way = np.concatenate([np.empty((0, 2), np.int64), *pairs])
    return np.concatenate([one_way, one_way[:, ::-1]])


@derived
def structural_operators(structure: Propagation) -> tuple[Propagation, ...]:
    """Return the graph itself and the structural relations, as weighted operators."""
    pattern = pattern_of(structure)
    return tuple(
        Propagation.from_scipy(
            relation, dtype=structure.matrix.dtype, device=structure.matrix.device
        )
        for relation in (pattern, *structural_edges(pattern))
    )
