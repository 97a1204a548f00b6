"""The paper's toy examples as small named graphs, with one-hot labels as features.

The source of the paper holds the captions but not the pictures; the graphs are built after what
the text says about them, and the tests check exactly that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import lookup


def harmless_heterophily() -> Graph:
    """Return a complete bipartite graph of two classes (Figure 1).

    Every neighbour has the other label, and after aggregation the classes have just exchanged
    places: edge, node and class homophily are 0, aggregation homophily is 1.
    """
    return _graph(list(product(range(4), range(4, 8))), [0] * 4 + [1] * 4, "harmless-heterophily")


def diversification_helps() -> Graph:
    """Return the example in which the high-pass filter repairs harmful heterophily (Figure 3).

    Nodes are numbered from 1 as in the paper: {1, 2, 3} are class 1, {4, 5, 6, 7} class 2. Nodes 1
    and 3 differ from most of their neighbours, nodes 4 to 7 do not. After aggregation 1 and 3 are
    more similar to class 2 than to their own; after I - A they have negative similarity to it.
    """
    edges = [(1, 2), (2, 3), (1, 4), (1, 5), (1, 6), (3, 5), (3, 6), (3, 7)]
    edges += combinations(range(4, 8), 2)
    labels = [0, 0, 0, 1, 1, 1, 1]
    return _graph([(u - 1, v - 1) for u, v in edges], labels, "diversification-helps", first=1)


def diversification_fails() -> Graph:
    """Return the example in which the high-pass filter is not enough (appendix, last figure).

    Four classes of two nodes. Classes 1 and 4 are linked to classes 2 and 3 only, so their
    surrounding differences are alike: without an edge between them they still have positive
    similarity after I - A. The same holds for classes 2 and 3.
    """
    outer, inner = (0, 1, 6, 7), (2, 3, 4, 5)  # classes 1 and 4; classes 2 and 3
    labels = [0, 0, 1, 1, 2, 2, 3, 3]
    return _graph(list(product(outer, inner)), labels, "diversification-fails", first=1)


TOY_GRAPHS: Mapping[str, Callable[[], Graph]] = {
    "harmless-heterophily": harmless_heterophily,
    "diversification-helps": diversification_helps,
    "diversification-fails": diversification_fails,
}


def toy_graph(name: str) -> Graph:
    """Return a toy example by name.

    >>> toy_graph("diversification-helps")
    Graph('diversification-helps', nodes=7, edges=14, features=2, classes=2)
    """
    return lookup(TOY_GRAPHS, "toy graph", name)()


def _graph(edges: list[tuple[int, int]], labels: list[int], name: str, *, first: int = 1) -> Graph:
    source, target = np.array(edges).T
    classes = max(labels) + 1
    return Graph.from_edges(
        source,
        target,
        labels=np.array(labels),
        features=np.eye(classes)[labels],
        class_names=tuple(f"class {number + 1}" for number in range(classes)),
        node_ids=np.arange(first, first + len(labels)),
        name=name,
    )
