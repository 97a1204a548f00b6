"""Regular graphs of Proposition 1: every node has the same number of out-neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from heterophily.data.graph import Graph
from heterophily.data.synthetic.draws import neighbours, spread_rounding
from heterophily.data.synthetic.features import sample_rows
from heterophily.data.synthetic.parts import assemble, check_share
from heterophily.errors import InputError

EdgeRule = Literal["even", "independent"]


def regular_graph(
    *,
    homophily: float,
    degree: int,
    features: Any,
    labels: ArrayLike,
    rng: np.random.Generator,
    nodes_per_class: int | Sequence[int] | None = None,
    edge_rule: EdgeRule = "even",
    class_names: tuple[str, ...] | None = None,
    name: str = "regular",
) -> Graph:
    r"""Draw a directed graph in which every node has ``degree`` distinct out-neighbours.

    Appendix "Further Discussion of Aggregation Homophily on Regular Graphs". Neighbours are
    uniform within the class and uniform over all nodes of other classes. The graph is directed:
    only so the rows of Â are independent, as the proof of Proposition 1 assumes (the program of
    the paper does the same). The paper gives every node 10 intra-class and
    :math:`[10/h - 10]` inter-class edges: ``degree=round(10 / h)``.

    Parameters
    ----------
    homophily
        Target edge homophily in [0, 1].
    degree
        Number of out-neighbours d of every node.
    features, labels, nodes_per_class
        The base data, see :func:`heterophily.edge_homophily_graph`.
    rng
        Source of all randomness.
    edge_rule
        ``"even"``: every node has :math:`h d` intra-class neighbours, rounded up or down at random
        such that edge homophily is met to one edge. ``"independent"``: each of the d edges is
        intra-class with probability h, as Proposition 1 says.

    Examples
    --------
    >>> graph = regular_graph(
    ...     homophily=0.25, degree=4, features=None, labels=np.repeat([0, 1], 20),
    ...     rng=np.random.default_rng(0),
    ... )
    >>> set(np.diff(graph.adjacency.indptr).tolist()), graph.is_directed
    ({4}, True)
    """
    check_share("homophily", homophily)
    if degree < 1:
        raise InputError(f"degree={degree}; every node has at least one neighbour")
    if edge_rule not in get_args(EdgeRule):
        raise InputError(f"edge_rule={edge_rule!r}; choose 'even' or 'independent'")
    sampled, sizes = sample_rows(labels, features, nodes_per_class, rng)
    num_nodes = int(sizes.sum())
    if edge_rule == "even":
        intra = spread_rounding(np.full(num_nodes, homophily * degree), rng)
    else:
        intra = rng.binomial(degree, homophily, num_nodes)
    source, target = neighbours(intra, degree - intra, sizes, is_directed=True, rng=rng)
    return assemble(
        source,
        target,
        sizes=sizes,
        features=sampled,
        class_names=class_names,
        name=name,
        is_directed=True,
    )
