"""Random graphs with a given edge homophily, and features sampled by class from real data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.adjacency import adjacency_from_edges
from heterophily.data.graph import UNLABELLED, Graph
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
    if not 0.0 <= homophily <= 1.0:
        raise InputError(f"homophily={homophily}; it must lie in [0, 1]")
    if edges < 0:
        raise InputError(f"edges={edges}; it must not be negative")
    base_labels = _checked_labels(labels, features)
    rows, sizes = _base_rows(base_labels, nodes_per_class, rng)
    within = round(homophily * edges)
    source, target = _pairs(sizes, within, edges - within, rng)
    sampled = None if features is None else _rows_of(features, rows)
    adjacency, _ = adjacency_from_edges(source, target, num_nodes=int(sizes.sum()))
    return Graph(
        adjacency=adjacency,
        features=sampled,
        labels=np.repeat(np.arange(sizes.size), sizes),
        class_names=class_names or tuple(str(number) for number in range(sizes.size)),
        name=name,
    )


def _checked_labels(labels: ArrayLike, features: Any) -> Ints:
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0:
        raise InputError("labels must be a list of whole numbers, one per row of the features")
    if features is not None and features.shape[0] != array.size:
        raise InputError(
            f"features have {features.shape[0]} rows but there are {array.size} labels"
        )
    if array.min() < UNLABELLED or array.max() < 0:
        raise InputError("labels must be classes 0, 1, 2, ... (-1: this row is not used)")
    missing = np.flatnonzero(np.bincount(array[array >= 0]) == 0)
    if missing.size:
        raise InputError(f"class {missing[0]} has no row in labels; number the classes 0..C-1")
    return array.astype(np.int64)


def _base_rows(
    labels: Ints, nodes_per_class: int | Sequence[int] | None, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the base row of every node, nodes sorted by class, and the class sizes."""
    num_classes = int(labels.max()) + 1
    members = [np.flatnonzero(labels == number) for number in range(num_classes)]
    if nodes_per_class is None:
        return np.concatenate(members), np.array([rows.size for rows in members])
    sizes = np.asarray(nodes_per_class)
    if sizes.ndim == 0:
        sizes = np.full(num_classes, sizes)
    if sizes.shape != (num_classes,) or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise InputError(
            f"nodes_per_class={nodes_per_class!r}; give one positive number, or {num_classes}: "
            "one for each class"
        )
    drawn = []
    for rows, size in zip(members, sizes.tolist(), strict=True):
        passes = np.tile(rows, (-(-size // rows.size), 1))
        drawn.append(rng.permuted(passes, axis=1).reshape(-1)[:size])
    return np.concatenate(drawn), sizes.astype(np.int64)


def _rows_of(features: Any, rows: Ints) -> Any:
    matrix = sp.csr_array(features) if sp.issparse(features) else np.asarray(features)
    return matrix[rows]


def _pairs(sizes: Ints, within: int, across: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw distinct unordered pairs of nodes, numbered by class, within and across classes.

    Pairs are numbered consecutively, block by block, so drawing pairs is drawing distinct numbers.
    """
    start = np.cumsum(sizes) - sizes
    first_class, second_class = np.triu_indices(sizes.size, k=1)
    block, place = _draw(sizes * (sizes - 1) // 2, within, "within classes", rng)
    high = (1 + np.sqrt(1 + 8 * place)).astype(np.int64) // 2
    high -= high * (high - 1) // 2 > place  # the square root may be off by one
    high += high * (high + 1) // 2 <= place
    low = place - high * (high - 1) // 2
    source, target = start[block] + low, start[block] + high
    block, place = _draw(sizes[first_class] * sizes[second_class], across, "across classes", rng)
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
            f"{count:,} edges {where} are asked for but these classes allow {capacity:,}; "
            "lower edges, change homophily or use more nodes"
        )
    numbers = _distinct(capacity, count, rng)
    ends = np.cumsum(blocks)
    block = np.searchsorted(ends, numbers, side="right")
    return block, numbers - np.append(ends - blocks, 0)[block]


def _distinct(capacity: int, count: int, rng: np.random.Generator) -> Ints:
    """Return ``count`` distinct numbers below ``capacity``, sorted; all sets are equally likely."""
    if 2 * count > capacity:
        left_out = _distinct(capacity, capacity - count, rng)
        kept = np.ones(capacity, np.bool_)
        kept[left_out] = False
        return np.flatnonzero(kept)
    numbers = np.zeros(0, np.int64)
    while numbers.size < count:  # what was drawn twice is drawn again
        more = rng.integers(0, capacity, count - numbers.size)
        numbers = np.sort(np.concatenate([numbers, more]))
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]
    return numbers
