"""The generator that the paper describes: first the degree of each node, then its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heterophily.data.graph import Graph
from heterophily.data.synthetic.draws import neighbours, spread_rounding
from heterophily.data.synthetic.features import sample_rows
from heterophily.data.synthetic.parts import assemble, check_positive, check_share


def degree_then_edges_graph(
    *,
    homophily: float,
    mean_degree: float,
    features: Any,
    labels: ArrayLike,
    rng: np.random.Generator,
    nodes_per_class: int | Sequence[int] | None = None,
    is_directed: bool = False,
    class_names: tuple[str, ...] | None = None,
    name: str = "synthetic",
) -> Graph:
    r"""Draw a random degree for each node, then its neighbours, a share h of them in its class.

    For each class of n nodes, :math:`(d_v) \sim \text{Multinomial}(n \bar d, 1/n)`; node v then
    draws :math:`h d_v` neighbours uniformly from its class and :math:`(1 - h) d_v` uniformly from
    the other classes (appendix "Detailed Description of Data Generation Process"; the paper has
    :math:`\bar d = 2 / h`, so that a class of 400 nodes has 800 intra-class edges).

    Two things are decided where the paper is silent: :math:`h d_v` is rounded up or down at random
    such that the total is right, and an edge that is there already is drawn again. So edge
    homophily is ``homophily`` to one edge per class.

    Parameters
    ----------
    homophily
        Target edge homophily in [0, 1].
    mean_degree
        Mean number of edges that a node draws. An undirected edge counts for both of its ends, so
        the mean degree of the graph is then twice this.
    features, labels, nodes_per_class
        The base data, see :func:`heterophily.edge_homophily_graph`.
    rng
        Source of all randomness.
    is_directed
        Whether row v of the adjacency holds what v drew and nothing else. Every node then has the
        share h of intra-class neighbours, up to rounding, and aggregation homophily is 1 at almost
        every level; the edges that a node receives are what makes nodes differ.

    Examples
    --------
    >>> graph = degree_then_edges_graph(
    ...     homophily=0.25, mean_degree=8, features=None, labels=np.repeat([0, 1], 50),
    ...     rng=np.random.default_rng(0),
    ... )
    >>> graph.num_edges
    800
    """
    check_share("homophily", homophily)
    check_positive("mean_degree", mean_degree)
    sampled, sizes = sample_rows(labels, features, nodes_per_class, rng)
    degrees = np.concatenate(
        [rng.multinomial(round(n * mean_degree), np.full(n, 1 / n)) for n in sizes.tolist()]
    )
    intra = np.minimum(spread_rounding(homophily * degrees, rng), degrees)
    source, target = neighbours(intra, degrees - intra, sizes, is_directed=is_directed, rng=rng)
    return assemble(
        source,
        target,
        sizes=sizes,
        features=sampled,
        class_names=class_names,
        name=name,
        is_directed=is_directed,
    )
