"""Operators on nodes that programs may use beside Â: prepared once for each graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

from heterophily.layers.directions import Scaling, directions_of
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.neighbourhoods import exact_hops
from heterophily.layers.propagation import Propagation


def _at_distance(place: int, inputs: GraphInputs) -> Propagation:
    assert inputs.structure is not None
    return exact_hops(inputs.structure)[place]


def _along(direction: str, scaling: Scaling, with_loops: bool, inputs: GraphInputs) -> Propagation:
    found = directions_of(inputs, scaling, with_loops=with_loops)
    operator: Propagation = getattr(found, direction)
    return operator


def direction_name(direction: str, scaling: Scaling, *, with_loops: bool) -> str:
    """Return the key of A or its transpose, normalised.

    >>> direction_name("forward", "symmetric", with_loops=False)
    'forward symmetric'
    """
    return f"{direction} {scaling}{' with loops' if with_loops else ''}"


_SCALINGS: tuple[Scaling, ...] = ("random-walk", "symmetric")

OPERATORS: Mapping[str, Callable[[GraphInputs], Propagation]] = {
    "one-hop": partial(_at_distance, 0),
    "two-hops": partial(_at_distance, 1),
    **{
        direction_name(way, scaling, with_loops=loops): partial(_along, way, scaling, loops)
        for way, scaling, loops in product(("forward", "backward"), _SCALINGS, (False, True))
    },
}
"""How each follows from the prepared graph; programs count them from 1 in this order."""
