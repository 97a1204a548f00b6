"""Random graphs with several types of edges, each with its own edge homophily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heterophily.data.edge_types import coded, typed_adjacency
from heterophily.data.graph import Graph
from heterophily.data.synthetic.edge_homophily import draw_pairs
from heterophily.data.synthetic.features import sample_rows
from heterophily.data.synthetic.parts import check_share
from heterophily.errors import InputError


def relations_graph(
    *,
    homophily: Mapping[str, float],
    edges: int | Mapping[str, int],
    features: Any,
    labels: ArrayLike,
    rng: np.random.Generator,
    nodes_per_class: int | Sequence[int] | None = None,
    class_names: tuple[str, ...] | None = None,
    name: str = "relations",
) -> Graph:
    """Draw an undirected graph with typed edges (``graph.edge_types``).

    The edges of each type are drawn by themselves as in
    :func:`~heterophily.data.synthetic.edge_homophily.edge_homophily_graph`; a pair of nodes may be
    linked by several types. A type whose homophily is the share of pairs within classes (1 / C for
    C classes of one size) says nothing about the classes.

    Parameters
    ----------
    homophily
        Type of edges -> its edge homophily in [0, 1].
    edges
        Number of edges of each type, or one number for all types.
    features, labels, nodes_per_class, class_names, name
        As for ``edge_homophily_graph``.
    rng
        Source of all randomness.

    Examples
    --------
    >>> graph = relations_graph(
    ...     homophily={"friend": 1.0, "rival": 0.0}, edges=40, features=None,
    ...     labels=np.repeat([0, 1], 20), rng=np.random.default_rng(0),
    ... )
    >>> graph.type_names, graph.of_type("friend").num_edges
    (('friend', 'rival'), 40)
    """
    if not homophily:
        raise InputError("homophily names no type of edges; give one number for each type")
    counts = dict.fromkeys(homophily, edges) if isinstance(edges, int) else dict(edges)
    if set(counts) != set(homophily):
        raise InputError(
            f"edges names the types {', '.join(counts)}, homophily {', '.join(homophily)}; "
            "name the same types in both"
        )
    sampled, sizes = sample_rows(labels, features, nodes_per_class, rng)
    sources, targets, kinds = [], [], []
    for kind, share in homophily.items():
        check_share(f"homophily of {kind}", share)
        if counts[kind] < 1:
            raise InputError(f"edges={counts[kind]} of type {kind!r}; it must be at least 1")
        within = round(share * counts[kind])
        source, target = draw_pairs(sizes, within, counts[kind] - within, rng)
        sources.append(source)
        targets.append(target)
        kinds += [kind] * counts[kind]
    ends = (np.concatenate(sources), np.concatenate(targets))
    adjacency, _, types = typed_adjacency(
        ends, coded(kinds, len(kinds)), num_nodes=int(sizes.sum())
    )
    return Graph(
        adjacency=adjacency,
        edge_types=types,
        features=sampled,
        labels=np.repeat(np.arange(sizes.size), sizes),
        class_names=class_names or tuple(str(number) for number in range(sizes.size)),
        name=name,
    )
