"""Adjacency as users have it (operator, sparse tensor, ``edge_index``) -> Propagation."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.filters.normalization import normalized_adjacency
from heterophily.layers.propagation import Propagation

Adjacency: TypeAlias = Propagation | Tensor
_SPARSE_LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


def adjacency_matrix(adjacency: Tensor, num_nodes: int) -> sp.csr_array:
    """Return A, row v holding what node v receives from, as a SciPy matrix.

    A sparse tensor (N, N) is taken as it is. In an ``edge_index`` (2, E), as PyTorch Geometric
    has it, column e is an edge from node ``edge_index[0, e]`` to node ``edge_index[1, e]``, so
    the entry stands at ``[edge_index[1, e], edge_index[0, e]]``. Repeated edges add up; loops
    stay.

    >>> adjacency_matrix(torch.tensor([[0], [1]]), 2).toarray()
    array([[0., 0.],
           [1., 0.]])
    """
    if adjacency.layout in _SPARSE_LAYOUTS:
        return _from_sparse(adjacency, num_nodes)
    is_index = adjacency.ndim == 2 and adjacency.shape[0] == 2
    if not is_index or adjacency.is_floating_point() or adjacency.dtype == torch.bool:
        raise InputError(
            f"adjacency is a dense {adjacency.dtype} tensor of shape {tuple(adjacency.shape)}; "
            "give a Propagation, a sparse (N, N) tensor or an integer edge_index (2, E)"
        )
    source, target = adjacency.detach().cpu().numpy()
    for name, ends in (("edge_index[0]", source), ("edge_index[1]", target)):
        bad = np.flatnonzero((ends < 0) | (ends >= num_nodes))
        if bad.size:
            raise InputError(
                f"{name}[{bad[0]}] = {ends[bad[0]]}, but there are {num_nodes} nodes (rows of x)"
            )
    ones = np.ones(source.size)
    return sp.csr_array((ones, (target, source)), shape=(num_nodes, num_nodes))


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


class AdjacencyCache:
    """Normalises an adjacency once and remembers the last one.

    The same tensor object, unchanged since, is recognised; any other is prepared anew. Not part
    of a module's state.
    """

    def __init__(
        self, *, normalization: Literal["random-walk", "symmetric"], renormalize: bool
    ) -> None:
        self.normalization, self.renormalize = normalization, renormalize
        self._key: tuple[Any, ...] | None = None
        self._found: tuple[Propagation, Propagation] | None = None

    def prepare(self, adjacency: Adjacency, x: Tensor) -> tuple[Propagation, Propagation | None]:
        """Return Â and, where it is known, A itself, in the type and on the device of ``x``."""
        if isinstance(adjacency, Propagation):
            if adjacency.num_nodes != x.shape[0]:
                raise InputError(
                    f"the operator is for {adjacency.num_nodes} nodes, x has {x.shape[0]} rows"
                )
            return adjacency.to(dtype=x.dtype, device=x.device), None
        version = None if adjacency.is_inference() else adjacency._version
        key = (version, x.shape[0], x.dtype, x.device)
        if (
            self._found is None
            or self._key is None
            or self._key[0] is not adjacency
            or (self._key[1:] != key or version is None)
        ):
            matrix = adjacency_matrix(adjacency, x.shape[0])
            operator = normalized_adjacency(
                matrix, kind=self.normalization, renormalize=self.renormalize
            )
            self._found = (
                Propagation.from_scipy(operator, dtype=x.dtype, device=x.device),
                Propagation.from_scipy(matrix, dtype=x.dtype, device=x.device),
            )
            self._key = (adjacency, *key)
        return self._found

    def __getstate__(self) -> dict[str, Any]:
        """Leave the remembered graph out of copies and files."""
        return {**self.__dict__, "_key": None, "_found": None}
