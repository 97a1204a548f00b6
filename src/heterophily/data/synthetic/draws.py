"""Drawing distinct things: numbers, pairs of nodes, and neighbours for every node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError

Ints = NDArray[np.int64]
_MAX_ROUNDS = 200


def distinct_numbers(capacity: int, count: int, rng: np.random.Generator) -> Ints:
    """Return ``count`` distinct numbers below ``capacity``, sorted; all sets are equally likely."""
    if 2 * count > capacity:
        left_out = distinct_numbers(capacity, capacity - count, rng)
        kept = np.ones(capacity, np.bool_)
        kept[left_out] = False
        return np.flatnonzero(kept)
    numbers = np.zeros(0, np.int64)
    while numbers.size < count:  # what was drawn twice is drawn again
        more = rng.integers(0, capacity, count - numbers.size)
        numbers = np.sort(np.concatenate([numbers, more]))
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]
    return numbers


def pairs_in_triangle(places: Ints) -> tuple[Ints, Ints]:
    """Return the pair (low, high), low < high, that each place in the lower triangle stands for.

    Pairs are numbered (0, 1), (0, 2), (1, 2), (0, 3), ...
    """
    high = (1 + np.sqrt(1 + 8 * places)).astype(np.int64) // 2
    high -= high * (high - 1) // 2 > places  # the square root may be off by one
    high += high * (high + 1) // 2 <= places
    return places - high * (high - 1) // 2, high


def spread_rounding(values: NDArray[np.float64], rng: np.random.Generator) -> Ints:
    """Round every value down or up at random, such that the sum is right to less than one.

    Each value is rounded up with a probability equal to its fraction (systematic sampling).

    >>> rounded = spread_rounding(np.full(10, 0.3), np.random.default_rng(0))
    >>> int(rounded.sum()), int(rounded.max())
    (3, 1)
    """
    fractions = values - np.floor(values)
    order = rng.permutation(values.size)
    total = np.floor(np.cumsum(fractions[order]) + rng.random() + 1e-9)
    up = np.zeros(values.size, np.int64)
    up[order] = np.diff(total, prepend=0.0).astype(np.int64)
    return np.floor(values).astype(np.int64) + up


def neighbours(
    intra: Ints, inter: Ints, sizes: Ints, *, is_directed: bool, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw ``intra[v]`` neighbours of v in its class and ``inter[v]`` elsewhere, all distinct.

    Nodes are numbered by class; ``sizes`` are the class sizes. Neighbours are uniform over the
    eligible nodes. An edge that is already there (in either direction, unless ``is_directed``)
    is drawn again, so the numbers of edges within and across classes are met exactly.
    """
    num_nodes = int(sizes.sum())
    node_class = np.repeat(np.arange(sizes.size), sizes)
    start = (np.cumsum(sizes) - sizes)[node_class]
    size = sizes[node_class]
    _check_room(intra, size - 1, "its own class", is_directed)
    _check_room(inter, num_nodes - size, "other classes", is_directed)

    def propose_intra(source: Ints) -> Ints:
        offset = rng.integers(0, size[source] - 1)
        return start[source] + offset + (start[source] + offset >= source)  # never itself

    def propose_inter(source: Ints) -> Ints:
        target = rng.integers(0, num_nodes - size[source])
        return target + size[source] * (target >= start[source])

    nodes = np.arange(num_nodes)
    parts = [
        _distinct_edges(np.repeat(nodes, counts), propose, num_nodes, is_directed)
        for counts, propose in ((intra, propose_intra), (inter, propose_inter))
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _check_room(wanted: Ints, room: Ints, where: str, is_directed: bool) -> None:
    asked, allowed = int(wanted.sum()), int(room.sum()) // (1 if is_directed else 2)
    tight = np.flatnonzero(wanted > room)
    if tight.size:
        node = int(tight[0])
        raise InputError(
            f"a node asks for {wanted[node]} neighbours in {where}, which has {room[node]} "
            "candidates; use more nodes per class or a smaller degree"
        )
    if asked > allowed:
        raise InputError(
            f"{asked:,} edges to {where} are asked for but there are {allowed:,} pairs of nodes; "
            "use more nodes per class or a smaller degree"
        )


def _distinct_edges(
    source: Ints, propose: Callable[[Ints], Ints], num_nodes: int, is_directed: bool
) -> tuple[Ints, Ints]:
    """Give every entry of ``source`` a target; entries that repeat an edge are drawn again."""
    taken = np.zeros(0, np.int64)
    found: list[tuple[Ints, Ints]] = []
    for _ in range(_MAX_ROUNDS):
        if not source.size:
            break
        target = propose(source)
        low, high = source, target
        if not is_directed:
            low, high = np.minimum(source, target), np.maximum(source, target)
        keys = low * num_nodes + high
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        is_free = (np.diff(keys, prepend=-1) > 0) & ~_is_in(keys, taken)
        taken = np.concatenate([taken, keys[is_free]])
        taken.sort(kind="stable")  # two sorted runs: one merge
        is_new = np.zeros(keys.size, np.bool_)
        is_new[order[is_free]] = True
        found.append((source[is_new], target[is_new]))
        source = source[~is_new]
    if source.size:
        raise InputError(
            f"the graph is too dense: for {source.size:,} edges no pair of nodes is left; use "
            "more nodes per class or a smaller degree"
        )
    empty = np.zeros(0, np.int64)
    return (
        np.concatenate([empty, *(s for s, _ in found)]),
        np.concatenate([empty, *(t for _, t in found)]),
    )


def _is_in(keys: Ints, taken: Ints) -> NDArray[np.bool_]:
    if not taken.size:
        return np.zeros(keys.size, np.bool_)
    place = np.minimum(np.searchsorted(taken, keys), taken.size - 1)
    return np.asarray(taken[place] == keys)
