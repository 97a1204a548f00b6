"""Homophily along two edges, and along the directions of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UndefinedError
from heterophily.metrics.label_counts import need_labels, one_hot_labels
from heterophily.metrics.statistics import LabelStatistics


def _without_loops(graph: Graph) -> sp.csr_array:
    adjacency = sp.csr_array(graph.adjacency, dtype=np.float64, copy=True)
    if adjacency.diagonal().any():
        adjacency.setdiag(0.0)
        adjacency.eliminate_zeros()
    return adjacency


def two_hop_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Share of walks of two edges, from a node to another one, whose ends have one label.

    .. math:: H_2 = \frac{|\{(u, w, v) : u \ne v, z_u = z_v\}|}{|\{(u, w, v) : u \ne v\}|},
              \quad (u, w), (w, v) \in E

    Both ends are labelled; the node between them need not be. With weights a walk counts the
    product of its two edges. Loops are left out. Counted from the classes around each node in
    between, so A² is never formed.

    >>> two_hop_homophily(Graph.from_edges([0, 0], [1, 2], labels=[1, 0, 0]))
    1.0
    """
    need_labels(graph, "two hop homophily")
    matching, walks = _two_hop_walks(graph)
    if walks <= 0.0:
        raise UndefinedError(
            f"two hop homophily of {graph.name!r}", "no walk of two edges joins two labelled nodes"
        )
    return matching / walks


def _two_hop_walks(graph: Graph | LabelStatistics) -> tuple[float, float]:
    """Return the walks between two labelled nodes whose ends have one label, and all of them."""
    if isinstance(graph, LabelStatistics):
        if graph.walks is None:
            raise UndefinedError(
                f"two hop homophily of {graph.name!r}",
                "walks of a directed graph are counted in memory only",
            )
        return graph.walks
    adjacency = _without_loops(graph)
    one_hot = one_hot_labels(graph.labels, graph.num_classes)
    ahead = np.asarray((adjacency @ one_hot).toarray())
    behind = ahead if not graph.is_directed else np.asarray((adjacency.T @ one_hot).toarray())
    known = (graph.labels >= 0).astype(np.float64)
    # Walks back to where they began: u -> w -> u.
    back = float(known @ (adjacency.multiply(adjacency.T) @ np.ones(graph.num_nodes)))
    walks = float(behind.sum(axis=1) @ ahead.sum(axis=1)) - back
    return float((behind * ahead).sum()) - back, walks


PATHS = (
    ("out",),
    ("in",),
    ("out", "out"),
    ("in", "in"),
    ("out", "in"),
    ("in", "out"),
)
"""Ways of one and two edges along ("out") and against ("in") their direction."""


def path_homophily(graph: Graph, path: Sequence[str]) -> float:
    r"""Share of a node's own label among the ends of paths from it, mean over nodes
    (weighted homophily of Rossi et al. 2023, "Edge directionality improves learning").

    .. math:: h(S) = \frac{1}{N} \sum_v \frac{\sum_u S_{vu} [z_u = z_v]}{\sum_u S_{vu}}, \qquad
              S \in \{A, A^\top, AA, A^\top A^\top, A A^\top, A^\top A\}

    ``path`` names the steps: ``("out", "in")`` is :math:`A A^\top`: nodes that point to the same
    nodes. Labelled nodes with a labelled end are averaged; a path may lead back to its node.

    >>> arrows = Graph.from_edges([0, 1], [2, 2], labels=[0, 0, 1], direction="keep")
    >>> path_homophily(arrows, ("out",)), path_homophily(arrows, ("out", "in"))
    (0.0, 1.0)
    """
    steps = {"out": graph.adjacency, "in": graph.adjacency.T}
    if not path or set(path) - set(steps):
        raise InputError(f"path={tuple(path)!r}; its steps are 'out' and 'in', at least one")
    need_labels(graph, "path homophily")
    reached: Any = one_hot_labels(graph.labels, graph.num_classes).toarray()
    for step in reversed(path):
        reached = steps[step] @ reached
    ends: NDArray[np.float64] = np.asarray(reached, np.float64)
    chosen = np.flatnonzero((graph.labels >= 0) & (ends.sum(axis=1) > 0))
    if chosen.size == 0:
        raise UndefinedError(
            f"path homophily of {graph.name!r}",
            f"no path {' then '.join(path)} joins two labelled nodes",
        )
    own = ends[chosen, graph.labels[chosen]] / ends[chosen].sum(axis=1)
    return float(own.mean())


def effective_homophily(graph: Graph | LabelStatistics) -> float:
    r"""Largest :func:`path_homophily` over paths of one and two edges, in [0, 1]
    (Rossi et al. 2023).

    .. math:: h_\text{eff} = \max_S h(S), \qquad
              S \in \{A, A^\top, AA, A^\top A^\top, A A^\top, A^\top A\}

    How alike nodes can become to a model that may choose the direction and the length of its
    paths. Without directions: one edge, or two.

    >>> arrows = Graph.from_edges([0, 1], [2, 2], labels=[0, 0, 1], direction="keep")
    >>> effective_homophily(arrows)
    1.0
    """
    need_labels(graph, "effective homophily")
    if isinstance(graph, LabelStatistics):
        raise UndefinedError(
            f"effective homophily of {graph.name!r}",
            "paths of two edges are followed in memory only",
        )
    paths = PATHS if graph.is_directed else (("out",), ("out", "out"))
    found = []
    for path in paths:
        try:
            found.append(path_homophily(graph, path))
        except InputError:
            continue  # nothing lies this way: another path decides
    if not found:
        raise UndefinedError(
            f"effective homophily of {graph.name!r}", "no edge joins two labelled nodes"
        )
    return max(found)
