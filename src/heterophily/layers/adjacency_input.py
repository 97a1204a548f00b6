"""Adjacency as users have it (operator, sparse tensor, ``edge_index``) -> an operator."""

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
from heterophily.layers.traced import is_traced
from heterophily.layers.weighted_edges import WeightedEdges

Adjacency: TypeAlias = Propagation | Tensor
Operator: TypeAlias = Propagation | WeightedEdges
Flow = Literal["source_to_target", "target_to_source"]
FLOWS: tuple[Flow, ...] = ("source_to_target", "target_to_source")
_SPARSE_LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


def adjacency_matrix(
    adjacency: Tensor,
    num_nodes: int,
    edge_weight: Tensor | None = None,
    *,
    flow: Flow = "source_to_target",
) -> sp.csr_array:
    """Return A, row v holding what node v receives from, as a SciPy matrix.

    A sparse tensor (N, N) is taken as it is. In an ``edge_index`` (2, E), as PyTorch Geometric
    has it, column e is an edge from node ``edge_index[0, e]`` to node ``edge_index[1, e]``, so
    the entry stands at ``[edge_index[1, e], edge_index[0, e]]``. Repeated edges add up; loops
    stay. ``edge_weight`` (E,) takes the place of ones. ``flow="target_to_source"`` turns the edges
    of an ``edge_index`` around.

    >>> adjacency_matrix(torch.tensor([[0], [1]]), 2).toarray()
    array([[0., 0.],
           [1., 0.]])
    """
    if adjacency.layout in _SPARSE_LAYOUTS:
        if edge_weight is not None:
            raise InputError("a sparse adjacency has its own weights; edge_weight goes with edges")
        return _from_sparse(adjacency, num_nodes)
    source, target = _directed(_checked_edges(adjacency, num_nodes), flow).numpy()
    values = np.ones(source.size)
    if edge_weight is not None:
        values = _checked_weight(edge_weight, source.size).to(torch.float64).cpu().numpy()
    return sp.csr_array((values, (target, source)), shape=(num_nodes, num_nodes))


def check_edge_index(adjacency: Any) -> None:
    """Refuse what has not the shape and type of an ``edge_index``."""
    if not isinstance(adjacency, Tensor):
        raise InputError(
            f"adjacency is a {type(adjacency).__name__}; give a Propagation, a sparse (N, N) "
            "tensor or an integer edge_index (2, E)"
        )
    is_index = adjacency.ndim == 2 and adjacency.shape[0] == 2
    if not is_index or adjacency.is_floating_point() or adjacency.dtype == torch.bool:
        raise InputError(
            f"adjacency is a dense {adjacency.dtype} tensor of shape {tuple(adjacency.shape)}; "
            "give a Propagation, a sparse (N, N) tensor or an integer edge_index (2, E)"
        )


def check_ends(ends: Tensor, row: int, num_nodes: int, rows_of: str = "x") -> None:
    """Refuse an end of an edge that is not a row of the features."""
    bad = torch.nonzero((ends < 0) | (ends >= num_nodes)).flatten()
    if len(bad):
        raise InputError(
            f"edge_index[{row}][{int(bad[0])}] = {int(ends[bad[0]])}, but there are {num_nodes} "
            f"nodes (rows of {rows_of})"
        )


def _checked_edges(adjacency: Tensor, num_nodes: int) -> Tensor:
    """Return an ``edge_index`` on the CPU in int64 after checking its ends."""
    check_edge_index(adjacency)
    edges = adjacency.detach().cpu().to(torch.int64)
    for row in (0, 1):
        check_ends(edges[row], row, num_nodes)
    return edges


def _directed(edges: Tensor, flow: Flow) -> Tensor:
    return edges if flow == "source_to_target" else edges.flip(0)


def _check_weight_shape(edge_weight: Tensor, num_edges: int) -> None:
    if edge_weight.shape not in ((num_edges,), (num_edges, 1)):
        raise InputError(
            f"edge_weight has shape {tuple(edge_weight.shape)}, expected ({num_edges},): one "
            "weight per edge"
        )


def _checked_weight(edge_weight: Tensor, num_edges: int) -> Tensor:
    _check_weight_shape(edge_weight, num_edges)
    weight = edge_weight.detach()
    if num_edges and not (torch.isfinite(weight).all() and weight.min() >= 0):
        raise InputError("edge_weight holds a negative or non-finite weight")
    return weight.reshape(num_edges)


def _weighted(
    adjacency: Tensor, edge_weight: Tensor | None, x: Tensor, flow: Flow
) -> WeightedEdges:
    """Return A as an operator through which gradients reach the weights."""
    if adjacency.layout in _SPARSE_LAYOUTS:
        if edge_weight is not None:
            raise InputError("a sparse adjacency has its own weights; edge_weight goes with edges")
        entries = _entries(adjacency, x.shape[0])
        rows, columns = entries.indices()
        return WeightedEdges(columns, rows, entries.values().to(x.dtype), x.shape[0])
    is_checked = not is_traced(x)
    if is_checked:
        edges = _checked_edges(adjacency, x.shape[0]).to(x.device)
    else:
        check_edge_index(adjacency)
        edges = adjacency.to(device=x.device, dtype=torch.int64)
    count = edges.shape[1]
    if edge_weight is None:
        weight = torch.ones(count, dtype=x.dtype, device=x.device)
    else:
        (_checked_weight if is_checked else _check_weight_shape)(edge_weight, count)
        weight = edge_weight.reshape(count).to(device=x.device, dtype=x.dtype)
    source, target = _directed(edges, flow).unbind()
    return WeightedEdges(source, target, weight, x.shape[0])


def _entries(adjacency: Tensor, num_nodes: int) -> Tensor:
    """Return a sparse tensor (N, N) as sorted entries, each once."""
    if tuple(adjacency.shape) != (num_nodes, num_nodes):
        raise InputError(
            f"adjacency has shape {tuple(adjacency.shape)}, but there are {num_nodes} nodes "
            "(rows of x)"
        )
    entries = adjacency
    if entries.layout != torch.sparse_coo:
        entries = entries.to_sparse(layout=torch.sparse_coo)
    if not entries.is_floating_point():
        entries = entries.double()  # before repeated entries add up
    return entries.coalesce()


def _from_sparse(adjacency: Tensor, num_nodes: int) -> sp.csr_array:
    entries = _entries(adjacency.detach().cpu(), num_nodes)
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
        self,
        *,
        normalization: Literal["random-walk", "symmetric"],
        renormalize: bool,
        flow: Flow = "source_to_target",
    ) -> None:
        if flow not in FLOWS:
            raise InputError(f"flow={flow!r}; choose {' or '.join(FLOWS)}")
        self.normalization, self.renormalize, self.flow = normalization, renormalize, flow
        self._last: _Remembered | None = None

    def prepare(
        self, adjacency: Adjacency, x: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Operator, Operator | None]:
        """Return Â and, where it is known, A itself, in the type and on the device of ``x``."""
        self._check_flow(adjacency)
        if isinstance(adjacency, Propagation):
            if edge_weight is not None:
                raise InputError("a Propagation has its own weights; edge_weight goes with edges")
            if adjacency.num_nodes != x.shape[0]:
                raise InputError(
                    f"the operator is for {adjacency.num_nodes} nodes, x has {x.shape[0]} rows"
                )
            operator = adjacency.to(dtype=x.dtype, device=x.device)
            return (WeightedEdges.of(operator) if is_traced(x) else operator), None
        if not isinstance(adjacency, Tensor):
            check_edge_index(adjacency)
        is_learned = edge_weight is not None and edge_weight.requires_grad
        if is_traced(x) or (is_learned and torch.is_grad_enabled()):
            weighted = _weighted(adjacency, edge_weight, x, self.flow)
            return self._normalized(weighted), weighted
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
        matrix = adjacency_matrix(adjacency, x.shape[0], edge_weight, flow=self.flow)
        normalized = normalized_adjacency(
            matrix, kind=self.normalization, renormalize=self.renormalize
        )
        found = (
            Propagation.from_scipy(normalized, dtype=x.dtype, device=x.device),
            Propagation.from_scipy(matrix, dtype=x.dtype, device=x.device),
        )
        self._last = _Remembered(adjacency, edge_weight, key, found)
        return found

    def masked(
        self, adjacency: Adjacency, x: Tensor, edge_weight: Tensor | None, mask: Tensor
    ) -> tuple[Operator, Operator]:
        """Return Â and A with the share of each edge multiplied by a mask (E,)."""
        if isinstance(adjacency, Propagation) or adjacency.layout in _SPARSE_LAYOUTS:
            raise InputError("a mask on edges goes with an edge_index (2, E)")
        weighted = _weighted(adjacency, edge_weight, x, self.flow)
        if mask.shape != weighted.weight.shape:
            raise InputError(
                f"the mask has shape {tuple(mask.shape)}, expected {tuple(weighted.weight.shape)}: "
                "one entry per edge"
            )
        return self._normalized(weighted).masked(mask), weighted.masked(mask)

    def _normalized(self, weighted: WeightedEdges) -> WeightedEdges:
        return weighted.normalized(self.normalization, renormalize=self.renormalize)

    def _check_flow(self, adjacency: Adjacency) -> None:
        is_edges = isinstance(adjacency, Tensor) and adjacency.layout not in _SPARSE_LAYOUTS
        if self.flow != FLOWS[0] and not is_edges:
            raise InputError(
                f"flow={self.flow!r} goes with an edge_index; transpose another adjacency yourself"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the remembered graph out of copies and files."""
        return {**self.__dict__, "_last": None}
