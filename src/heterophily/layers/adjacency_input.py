"""Adjacency as users have it (operator, sparse tensor, ``edge_index``) -> Propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.filters.normalization import normalized_adjacency
from heterophily.layers.propagation import Propagation
from heterophily.layers.weighted_edges import WeightedEdges

Adjacency: TypeAlias = Propagation | Tensor
Operator: TypeAlias = Propagation | WeightedEdges
_SPARSE_LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


def adjacency_matrix(
    adjacency: Tensor, num_nodes: int, edge_weight: Tensor | None = None
) -> sp.csr_array:
    """Return A, row v holding what node v receives from, as a SciPy matrix.

    A sparse tensor (N, N) is taken as it is. In an ``edge_index`` (2, E), as PyTorch Geometric
    has it, column e is an edge from node ``edge_index[0, e]`` to node ``edge_index[1, e]``, so
    the entry stands at ``[edge_index[1, e], edge_index[0, e]]``. Repeated edges add up; loops
    stay. ``edge_weight`` (E,) takes the place of ones.

    >>> adjacency_matrix(torch.tensor([[0], [1]]), 2).toarray()
    array([[0., 0.],
           [1., 0.]])
    """
    if adjacency.layout in _SPARSE_LAYOUTS:
        if edge_weight is not None:
            raise InputError("a sparse adjacency has its own weights; edge_weight goes with edges")
        return _from_sparse(adjacency, num_nodes)
    source, target = _checked_edges(adjacency, num_nodes).numpy()
    values = np.ones(source.size)
    if edge_weight is not None:
        values = _checked_weight(edge_weight, source.size).to(torch.float64).cpu().numpy()
    return sp.csr_array((values, (target, source)), shape=(num_nodes, num_nodes))


def _checked_edges(adjacency: Tensor, num_nodes: int) -> Tensor:
    """Return an ``edge_index`` on the CPU in int64 after checking its ends."""
    is_index = adjacency.ndim == 2 and adjacency.shape[0] == 2
    if not is_index or adjacency.is_floating_point() or adjacency.dtype == torch.bool:
        raise InputError(
            f"adjacency is a dense {adjacency.dtype} tensor of shape {tuple(adjacency.shape)}; "
            "give a Propagation, a sparse (N, N) tensor or an integer edge_index (2, E)"
        )
    edges = adjacency.detach().cpu().to(torch.int64)
    for row in (0, 1):
        ends = edges[row].numpy()
        bad = np.flatnonzero((ends < 0) | (ends >= num_nodes))
        if bad.size:
            raise InputError(
                f"edge_index[{row}][{bad[0]}] = {ends[bad[0]]}, but there are {num_nodes} nodes "
                "(rows of x)"
            )
    return edges


def _checked_weight(edge_weight: Tensor, num_edges: int) -> Tensor:
    if edge_weight.shape not in ((num_edges,), (num_edges, 1)):
        raise InputError(
            f"edge_weight has shape {tuple(edge_weight.shape)}, expected ({num_edges},): one "
            "weight per edge"
        )
    weight = edge_weight.detach()
    if num_edges and not (torch.isfinite(weight).all() and weight.min() >= 0):
        raise InputError("edge_weight holds a negative or non-finite weight")
    return weight.reshape(num_edges)


def _weighted(adjacency: Tensor, edge_weight: Tensor, x: Tensor) -> WeightedEdges:
    """Return A as an operator through which gradients reach the weights."""
    if adjacency.layout in _SPARSE_LAYOUTS:
        raise InputError("a sparse adjacency has its own weights; edge_weight goes with edges")
    edges = _checked_edges(adjacency, x.shape[0]).to(x.device)
    _checked_weight(edge_weight, edges.shape[1])
    weight = edge_weight.reshape(edges.shape[1]).to(device=x.device, dtype=x.dtype)
    return WeightedEdges(edges[0], edges[1], weight, x.shape[0])


def _from_sparse(adjacency: Tensor, num_nodes: int) -> sp.csr_array:
    if tuple(adjacency.shape) != (num_nodes, num_nodes):
        raise InputError(
            f"adjacency has shape {tuple(adjacency.shape)}, but there are {num_nodes} nodes "
            "(rows of x)"
        )
    entries = adjacency.detach().cpu()
    if entries.layout != torch.sparse_coo:
        entries = entries.to_sparse(layout=torch.sparse_coo)
    entries = entries.coalesce()
    rows, columns = entries.indices().numpy()
    values = entries.values().to(torch.float64).numpy()
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise InputError("adjacency holds a negative or non-finite weight")
    return sp.csr_array((values, (rows, columns)), shape=(num_nodes, num_nodes))


@dataclass(frozen=True)
class _Remembered:
    """One prepared adjacency and what it was prepared from; never changed, only replaced."""

    adjacency: Tensor
    edge_weight: Tensor | None
    key: tuple[Any, ...]
    found: tuple[Propagation, Propagation]


class AdjacencyCache:
    """Normalises an adjacency once and remembers the last one.

    The same tensor object, unchanged since, is recognised; any other is prepared anew. Not part
    of a module's state. Threads may share it: what is remembered is one value, replaced as a
    whole, and every call returns what it prepared or compared itself.
    """

    def __init__(
        self, *, normalization: Literal["random-walk", "symmetric"], renormalize: bool
    ) -> None:
        self.normalization, self.renormalize = normalization, renormalize
        self._last: _Remembered | None = None

    def prepare(
        self, adjacency: Adjacency, x: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Operator, Operator | None]:
        """Return Â and, where it is known, A itself, in the type and on the device of ``x``."""
        if isinstance(adjacency, Propagation):
            if edge_weight is not None:
                raise InputError("a Propagation has its own weights; edge_weight goes with edges")
            if adjacency.num_nodes != x.shape[0]:
                raise InputError(
                    f"the operator is for {adjacency.num_nodes} nodes, x has {x.shape[0]} rows"
                )
            return adjacency.to(dtype=x.dtype, device=x.device), None
        if edge_weight is not None and edge_weight.requires_grad and torch.is_grad_enabled():
            weighted = _weighted(adjacency, edge_weight, x)
            operator = weighted.normalized(self.normalization, renormalize=self.renormalize)
            return operator, weighted
        versions = tuple(
            None if tensor.is_inference() else tensor._version
            for tensor in (adjacency, edge_weight)
            if tensor is not None
        )
        key = (versions, x.shape[0], x.dtype, x.device)
        last = self._last  # read once: another thread may replace it
        if (
            last is not None
            and last.adjacency is adjacency
            and last.edge_weight is edge_weight
            and last.key == key
            and None not in versions
        ):
            return last.found
        matrix = adjacency_matrix(adjacency, x.shape[0], edge_weight)
        normalized = normalized_adjacency(
            matrix, kind=self.normalization, renormalize=self.renormalize
        )
        found = (
            Propagation.from_scipy(normalized, dtype=x.dtype, device=x.device),
            Propagation.from_scipy(matrix, dtype=x.dtype, device=x.device),
        )
        self._last = _Remembered(adjacency, edge_weight, key, found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave the remembered graph out of copies and files."""
        return {**self.__dict__, "_last": None}
