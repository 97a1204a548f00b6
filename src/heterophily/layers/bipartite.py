"""Two sets of nodes with edges from the first to the second, as one graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.layers.adjacency_input import Flow, check_edge_index, check_ends
from heterophily.layers.traced import is_traced


def as_one_graph(x: tuple[Any, ...], adjacency: Any, flow: Flow) -> tuple[Tensor, Tensor, int]:
    """Return features (N1 + N2, F), edges among all nodes, and N1.

    >>> first, second = torch.zeros(2, 1), torch.ones(1, 1)
    >>> nodes, edges, count = as_one_graph(
    ...     (first, second), torch.tensor([[0, 1], [0, 0]]), "source_to_target"
    ... )
    >>> nodes.flatten().tolist(), edges.tolist(), count
    ([0.0, 0.0, 1.0], [[0, 1], [2, 2]], 2)
    """
    if len(x) != 2 or not all(isinstance(part, Tensor) and part.ndim == 2 for part in x):
        raise InputError("x is a pair: give the features of both sets of nodes, (N1, F), (N2, F)")
    source, target = x
    if source.shape[1] != target.shape[1]:
        raise InputError(
            f"x is a pair with {source.shape[1]} and {target.shape[1]} columns; the channels "
            "compare a node with its neighbours, so both need the same columns"
        )
    check_edge_index(adjacency)
    if flow != "source_to_target":
        raise InputError("x is a pair: edges go from the first set to the second; leave out flow")
    count = source.shape[0]
    begin, end = adjacency.unbind()
    if is_traced(source):  # values cannot be looked at: an index that is too large stays too large
        begin = torch.where(begin < count, begin, count + target.shape[0])
    else:
        check_ends(begin, 0, count, "x[0]")
        check_ends(end, 1, target.shape[0], "x[1]")
    return torch.cat([source, target]), torch.stack([begin, end + count]), count
