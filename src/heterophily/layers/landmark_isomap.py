"""Nodes as points of the plane: Isomap on a few landmarks."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from heterophily.layers.graph_order import structural_colours

LANDMARKS = 100
_LEVELS = 64  # a graph with longer paths is searched from one landmark after the other


def geodesics(pattern: sp.csr_array, sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of steps from each source to every node, (m, N); inf where there is none.

    All sources advance together, one sparse product for each step.

    >>> path = sp.diags_array([[1.0] * 3, [1.0] * 3], offsets=[-1, 1]).tocsr()
    >>> geodesics(path, np.array([0])).tolist()
    [[0.0, 1.0, 2.0, 3.0]]
    """
    links = sp.csr_array(pattern, dtype=np.float32)
    front = np.zeros((pattern.shape[0], len(sources)), dtype=np.float32)
    front[sources, np.arange(len(sources))] = 1.0
    steps = np.where(front > 0, 0.0, np.inf)
    for level in range(1, _LEVELS + 1):
        is_new = (links @ front > 0) & np.isinf(steps)
        if not is_new.any():
            return steps.T
        steps[is_new] = level
        front = is_new.astype(np.float32)
    return np.asarray(dijkstra(pattern, directed=False, indices=sources, unweighted=True))


def landmark_isomap(
    pattern: sp.csr_array, *, dimensions: int = 2, landmarks: int = LANDMARKS
) -> NDArray[np.float64]:
    """Return coordinates (N, dimensions) whose distances resemble those along the graph.

    Isomap (Tenenbaum et al. 2000) with landmarks (de Silva and Tenenbaum 2003): classical scaling
    of the squared geodesic distances between the landmarks, every other node placed by its
    distances to them. With as many landmarks as nodes it is Isomap itself; with fewer, time and
    memory are linear in nodes and edges. Landmarks are the nodes of largest degree, ties by
    structure. Nodes that a landmark does not reach count as one step further than the farthest.
    Each axis points where its third moment is positive, so that the picture is not mirrored when
    nodes are renumbered.

    >>> path = sp.diags_array([[1.0] * 3, [1.0] * 3], offsets=[-1, 1]).tocsr()
    >>> places = landmark_isomap(path, dimensions=1)[:, 0]
    >>> np.round(np.abs(np.diff(places)), 6).tolist()
    [1.0, 1.0, 1.0]
    """
    num_nodes = pattern.shape[0]
    order = np.lexsort((structural_colours(pattern), -np.diff(pattern.indptr)))
    chosen = order[: min(landmarks, num_nodes)]
    steps = geodesics(pattern, chosen)  # (m, N)
    is_finite = np.isfinite(steps)
    farthest = steps[is_finite].max(initial=0.0)
    squares = np.where(is_finite, steps, farthest + 1.0) ** 2
    among = squares[:, chosen]  # (m, m)
    means = among.mean(axis=0)
    centred = -0.5 * (among - means - means[:, None] + among.mean())
    values, vectors = np.linalg.eigh(centred)
    top = np.argsort(values)[::-1][:dimensions]
    lengths = np.sqrt(np.maximum(values[top], 1e-12))
    places = -0.5 * (squares - means[:, None]).T @ (vectors[:, top] / lengths)
    places = np.pad(places, ((0, 0), (0, dimensions - places.shape[1])))
    places[np.abs(places) < 1e-9] = 0.0
    moments = (places**3).sum(axis=0)
    return np.where(moments < 0, -places, places)
