"""Random graphs with a given edge homophily, and features sampled by class from real data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.data.synthetic.draws import distinct_numbers, pairs_in_triangle
from heterophily.data.synthetic.features import sample_rows
from heterophily.data.synthetic.parts import assemble, check_share
from heterophily.errors import InputError

Ints = NDArray[np.int64]


def edge_homophily_graph(
    *,
    homophily: float,
    edges: int,
    features: Any,
    labels: ArrayLike,
    rng: np.random.Generator,
    nodes_per_class: int | Sequence[int] | None = None,
    class_names: tuple[str, ...] | None = None,
    name: str = "synthetic",
) -> Graph:
    r"""Draw an undirected graph with an exact number of edges within classes.

    Of the ``edges`` distinct pairs, :math:`\mathrm{round}(h |E|)` are drawn uniformly from the
    pairs within a class and the others uniformly from the pairs across classes, so edge homophily
    (Eq. 3) is ``homophily`` up to :math:`1 / (2|E|)`: this is how the paper's released code makes
    its synthetic graphs (appendix "Detailed Description of Data Generation Process"). Time and
    memory are linear in the edges.

    Parameters
    ----------
    homophily
        Target edge homophily in [0, 1].
    edges
        Number of undirected edges, without loops or duplicates.
    features, labels
        The base data: (M, F) dense or CSR features, or ``None`` for a graph without features, and
        (M,) classes 0..C-1. Unlabelled rows (-1) are not used.
    rng
        Source of all randomness.
    nodes_per_class
        One number for all classes or one per class; their feature rows are drawn from the base
        rows of that class, without repetition while they last. By default every base row becomes
        one node.

    Examples
    --------
    >>> labels = np.repeat([0, 1], 50)
    >>> graph = edge_homophily_graph(
    ...     homophily=0.25, edges=200, features=None, labels=labels, rng=np.random.default_rng(0)
    ... )
    >>> source, target = graph.adjacency.nonzero()
    >>> float((graph.labels[source] == graph.labels[target]).mean())
    0.25
    """
    check_share("homophily", homophily)
    if edges < 0:
        raise InputError(f"edges={edges}; it must not be negative")
    sampled, sizes = sample_rows(labels, features, nodes_per_class, rng)
    within = round(homophily * edges)
    source, target = draw_pairs(sizes, within, edges - within, rng)
    return assemble(
        source, target, sizes=sizes, features=sampled, class_names=class_names, name=name
    )


def draw_pairs(
    sizes: Ints, within: int, across: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw distinct unordered pairs of nodes, numbered by class, within and across classes.

    Pairs are numbered consecutively, block by block, so drawing pairs is drawing distinct numbers.
    """
    start = np.cumsum(sizes) - sizes
    first_class, second_class = np.triu_indices(sizes.size, k=1)
    block, place = _draw(sizes * (sizes - 1) // 2, within, "within classes", rng)
    low, high = pairs_in_triangle(place)
    source, target = start[block] + low, start[block] + high
    block, place = _draw(sizes[first_class] * sizes[second_class], across, "between classes", rng)
    first_start, second_start = start[first_class][block], start[second_class][block]
    row, column = np.divmod(place, sizes[second_class][block])
    return (
        np.concatenate([source, first_start + row]),
        np.concatenate([target, second_start + column]),
    )


def _draw(blocks: Ints, count: int, where: str, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw distinct numbers over blocks of given sizes: the block of each, its place therein."""
    capacity = int(blocks.sum())
    if count > capacity:
        raise InputError(
            f"there is room for {capacity:,} edges {where}, but {count:,} are asked for; ask for "
            "fewer edges, change the homophily, or use more nodes"
        )
    numbers = distinct_numbers(capacity, count, rng)
    ends = np.cumsum(blocks)
    block = np.searchsorted(ends, numbers, side="right")
    return block, numbers - np.append(ends - blocks, 0)[block]
