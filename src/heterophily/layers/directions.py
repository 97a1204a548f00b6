"""A and its transpose, each normalised: for layers that tell the two ends of an edge apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.filters.direction import is_one_way
from heterophily.layers.derived import derived
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation

Scaling = Literal["random-walk", "symmetric"]


@dataclass(frozen=True, eq=False)
class Directions:
    r"""The operators of both directions.

    ``forward`` gathers from the nodes that a node points to, ``backward`` from those that point to
    it. Random walk: :math:`D_\text{out}^{-1} A` and :math:`D_\text{in}^{-1} A^T`; symmetric (Rossi
    et al. 2023): :math:`D_\text{out}^{-1/2} A D_\text{in}^{-1/2}` and its transpose. Without
    one-way edges both are the same operator.
    """

    forward: Propagation
    backward: Propagation

    @property
    def is_one_way(self) -> bool:
        """Whether some edge has no twin in the other direction."""
        return self.forward is not self.backward


def directions_of(inputs: GraphInputs, scaling: Scaling, *, with_loops: bool) -> Directions:
    """Return both directions of a graph whose inputs hold A itself (worked out once).

    >>> from heterophily.data.graph import Graph
    >>> from heterophily.layers.inputs import InputOptions
    >>> graph = Graph.from_edges([0], [1], labels=[0, 1], direction="keep")
    >>> inputs = GraphInputs.from_graph(graph, InputOptions(with_structure=True))
    >>> found = directions_of(inputs, "random-walk", with_loops=False)
    >>> found.forward.matrix.to_scipy().toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    >>> found.backward.matrix.to_scipy().toarray().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    if inputs.structure is None:
        raise InputError(
            "both directions need A itself; prepare the graph with "
            "InputOptions(with_structure=True)"
        )
    return _maker(scaling, with_loops)(inputs.structure)


@cache
def _maker(scaling: Scaling, with_loops: bool) -> Callable[[Propagation], Directions]:
    """Return what prepares both directions of A, and remembers them as long as A lives."""

    @derived
    def prepare(structure: Propagation) -> Directions:
        adjacency = structure.matrix.to_scipy()

        def operator(matrix: sp.csr_array) -> Propagation:
            loops = sp.eye_array(matrix.shape[0], format="csr", dtype=matrix.dtype)
            scaled = _scaled(sp.csr_array(matrix + loops) if with_loops else matrix, scaling)
            kind, place = structure.matrix.dtype, structure.matrix.device
            return Propagation.from_scipy(scaled, dtype=kind, device=place)

        forward = operator(adjacency)
        if not is_one_way(adjacency):
            return Directions(forward, forward)
        return Directions(forward, operator(sp.csr_array(adjacency.T)))

    return prepare


def _scaled(matrix: sp.csr_array, scaling: Scaling) -> sp.csr_array:
    rows, columns = (np.asarray(matrix.sum(axis=axis), np.float64).reshape(-1) for axis in (1, 0))
    if scaling == "random-walk":
        return sp.csr_array(sp.diags_array(_power(rows, -1.0)) @ matrix)
    halves = (sp.diags_array(_power(side, -0.5)) for side in (rows, columns))
    left, right = halves
    return sp.csr_array(left @ matrix @ right)


def _power(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return the powers of positive numbers, 0 for the others."""
    found = np.zeros_like(values)
    np.power(values, exponent, out=found, where=values > 0)
    return found
