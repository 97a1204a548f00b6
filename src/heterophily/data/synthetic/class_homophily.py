"""Graphs in which every class has a homophily of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.data.synthetic.draws import distinct_numbers, pairs_in_triangle, spread_rounding
from heterophily.data.synthetic.features import sample_rows
from heterophily.data.synthetic.parts import assemble, check_positive, check_share
from heterophily.errors import InputError

Ints = NDArray[np.int64]


def class_homophily_graph(
    *,
    class_homophily: float | Sequence[float],
    mean_degree: float,
    features: Any,
    labels: ArrayLike,
    rng: np.random.Generator,
    nodes_per_class: int | Sequence[int] | None = None,
    class_names: tuple[str, ...] | None = None,
    name: str = "synthetic",
) -> Graph:
    r"""Draw an undirected graph with a given homophily for each class.

    A contextual stochastic block model in the manner of CSBM-H (Luan et al. 2023), for any number
    of classes. h_k is the share of edge ends at class k whose other end is in class k, as in
    :func:`heterophily.class_homophily`. Edges across classes are uniform over the pairs of nodes
    of different classes, with one rate :math:`\lambda`; class k then has as many edges within as
    its homophily asks for:

    .. math:: d_k = \lambda \frac{N - n_k}{1 - h_k}, \qquad
              \lambda \text{ such that } \tfrac1N \sum_k n_k d_k = \bar d

    so more homophilic classes have more edges. Numbers of edges are exact, up to rounding.

    Parameters
    ----------
    class_homophily
        One number for all classes or one per class, in [0, 1); all 1 gives no edge across.
    mean_degree
        Mean degree of the graph.
    features, labels, nodes_per_class
        The base data, see :func:`heterophily.edge_homophily_graph`.
    rng
        Source of all randomness.

    Examples
    --------
    >>> graph = class_homophily_graph(
    ...     class_homophily=[0.8, 0.2], mean_degree=10, features=None,
    ...     labels=np.repeat([0, 1], 200), rng=np.random.default_rng(0),
    ... )
    >>> edges = np.stack(graph.adjacency.nonzero())
    >>> z = graph.labels[edges]
    >>> [round(float((z[1][z[0] == k] == k).mean()), 2) for k in (0, 1)]
    [0.8, 0.2]
    """
    check_positive("mean_degree", mean_degree)
    sampled, sizes = sample_rows(labels, features, nodes_per_class, rng)
    shares = _checked_shares(class_homophily, sizes.size)
    within, across = _edge_counts(shares, sizes, mean_degree, rng)
    source, target = _draw_blocks(sizes, within, across, rng)
    return assemble(
        source, target, sizes=sizes, features=sampled, class_names=class_names, name=name
    )


def _checked_shares(class_homophily: float | Sequence[float], classes: int) -> NDArray[np.float64]:
    shares = np.asarray(class_homophily, np.float64)
    if shares.ndim == 0:
        shares = np.full(classes, shares)
    if shares.shape != (classes,):
        raise InputError(
            f"class_homophily={class_homophily!r}; give one number, or {classes}: one for each "
            "class"
        )
    for number, share in enumerate(shares.tolist()):
        check_share(f"class_homophily[{number}]", share)
    if (shares == 1).any() and not (shares == 1).all():
        raise InputError(
            "class_homophily is 1 for some classes, so they have no edges to other classes, but "
            "the remaining classes need such edges; use numbers below 1"
        )
    if classes == 1 and shares[0] < 1:
        raise InputError("class_homophily is below 1 but there is one class; use 1")
    return shares


def _edge_counts(
    shares: NDArray[np.float64], sizes: Ints, mean_degree: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the number of edges within each class and between each pair of classes."""
    first, second = np.triu_indices(sizes.size, k=1)
    ends = sizes.sum() * mean_degree
    if (shares == 1).all():
        within = ends / 2 * sizes / sizes.sum()
        return spread_rounding(within, rng), np.zeros(first.size, np.int64)
    outward = sizes * (sizes.sum() - sizes)  # ends across, per unit of the rate
    rate = ends / (outward / (1 - shares)).sum()
    across = rate * sizes[first] * sizes[second]
    within = rate * outward * shares / (1 - shares) / 2
    return spread_rounding(within, rng), spread_rounding(across, rng)


def _draw_blocks(
    sizes: Ints, within: Ints, across: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    start = np.cumsum(sizes) - sizes
    sources, targets = [], []
    for k, count in enumerate(within.tolist()):
        room = int(sizes[k] * (sizes[k] - 1) // 2)
        low, high = pairs_in_triangle(_numbers(room, count, f"within class {k}", rng))
        sources.append(start[k] + low)
        targets.append(start[k] + high)
    for (k, m), count in zip(combinations(range(sizes.size), 2), across.tolist(), strict=True):
        room = int(sizes[k] * sizes[m])
        places = _numbers(room, count, f"between classes {k} and {m}", rng)
        row, column = np.divmod(places, sizes[m])
        sources.append(start[k] + row)
        targets.append(start[m] + column)
    return np.concatenate(sources), np.concatenate(targets)


def _numbers(room: int, count: int, where: str, rng: np.random.Generator) -> Ints:
    if count > room:
        raise InputError(
            f"{count:,} edges {where} are needed but there are {room:,} pairs of nodes; lower "
            "mean_degree or class_homophily, or use more nodes"
        )
    return distinct_numbers(room, count, rng)
