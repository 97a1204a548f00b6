"""What every generator does first and last: check its numbers, assemble the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.adjacency import adjacency_from_edges
from heterophily.data.graph import Graph
from heterophily.errors import InputError

Ints = NDArray[np.int64]


def check_share(name: str, value: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}={value}; it must lie in [0, 1]")


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a positive finite number."""
    if not 0.0 < value < float("inf"):
        raise InputError(f"{name}={value}; it must be a positive number")


def assemble(
    source: Ints,
    target: Ints,
    *,
    sizes: Ints,
    features: Any,
    class_names: tuple[str, ...] | None,
    name: str,
    is_directed: bool = False,
) -> Graph:
    """Return the graph of distinct edges between nodes numbered by class."""
    adjacency, _ = adjacency_from_edges(
        source, target, num_nodes=int(sizes.sum()), direction="keep" if is_directed else "drop"
    )
    return Graph(
        adjacency=adjacency,
        features=features,
        labels=np.repeat(np.arange(sizes.size), sizes),
        class_names=class_names or tuple(str(number) for number in range(sizes.size)),
        name=name,
        is_directed=is_directed,
    )
