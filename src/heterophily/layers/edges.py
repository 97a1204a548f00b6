"""Edges of an operator in CSR order: gather to edges, sum and softmax over each node's edges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from heterophily.layers.derived import derived
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_matrix import SparseMatrix

_SUM, _MAX = 0, 2  # modes of torch.embedding_bag


@dataclass(frozen=True, eq=False)
class Edges:
    """The E nonzeros of an (N, N) operator; edge e goes from ``columns[e]`` to ``rows[e]``.

    Edges of one row lie beside each other, so sums over a node's edges are one pass over memory
    (``embedding_bag``) and no scatter. Get them with :func:`edges_of`.
    """

    matrix: SparseMatrix
    rows: Tensor  # (E,) int64
    columns: Tensor  # (E,) int64
    positions: Tensor  # (E,): 0, 1, 2, ...
    transpose_order: Tensor  # (E,): edges sorted by column, in the index type of the matrix
    pattern: Tensor  # (N, N) CSR of zeros

    @property
    def num_edges(self) -> int:
        """Number of edges E."""
        return int(self.rows.numel())

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.matrix.shape[0]

    @property
    def values(self) -> Tensor:
        """(E,) values of the operator."""
        return self.matrix.values

    def product(self, values: Tensor, signal: Tensor) -> Tensor:
        """Multiply a matrix of this pattern, with values (E,), by a signal; no gradient."""
        return replace(self.matrix, values=values) @ signal

    def transpose_product(self, values: Tensor, signal: Tensor) -> Tensor:
        """Multiply the transpose of that matrix by a signal; no gradient."""
        turned = values.index_select(0, self.matrix.transpose_order)
        return replace(self.matrix, transpose_values=turned).transpose_product(signal)

    def row_sums(self, signal: Tensor) -> Tensor:
        """Sum an edge signal (E, K) over the edges of each row: (N, K); no gradient."""
        return _bags(signal, self.positions, self.matrix.indptr, _SUM)

    def column_sums(self, signal: Tensor) -> Tensor:
        """Sum an edge signal (E, K) over the edges of each column: (N, K); no gradient."""
        return _bags(signal, self.transpose_order, self.matrix.transpose_indptr, _SUM)

    def row_maxima(self, signal: Tensor) -> Tensor:
        """Return the largest value among each row's edges, (E, K) -> (N, K); 0 for no edge."""
        if signal.shape[1] == 1 and signal.device.type == "cpu":  # a tenth of the time
            return self._single_row_maxima(signal)
        return _bags(signal, self.positions, self.matrix.indptr, _MAX)

    def _single_row_maxima(self, signal: Tensor) -> Tensor:
        filled, begins = self._filled
        found = np.zeros((self.num_nodes, 1), dtype=signal.detach().numpy().dtype)
        if filled.size:
            found[filled, 0] = np.maximum.reduceat(signal.detach().numpy()[:, 0], begins)
        return torch.from_numpy(found)

    @cached_property
    def _filled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that have edges, and the place of the first edge of each."""
        ends = self.matrix.indptr.numpy().astype(np.int64)
        filled = np.flatnonzero(np.diff(ends) > 0)
        return filled, ends[filled]

    def inner_products(self, left: Tensor, right: Tensor) -> Tensor:
        """Return ``left[row] . right[column]`` of every edge, (N, D), (N, D) -> (E,)."""
        if self.num_edges == 0:
            return left.new_zeros(0)
        if left.dtype != self.values.dtype:
            return (left[self.rows] * right[self.columns]).sum(1)
        product: Tensor = torch.sparse.sampled_addmm(self.pattern, left, right.t(), beta=0.0)
        return product.values()


@derived
def edges_of(operator: Propagation) -> Edges:
    """Return the edges of an operator (worked out once).

    >>> import scipy.sparse as sp
    >>> edges = edges_of(Propagation.from_scipy(sp.csr_array([[1.0, 1.0], [0.0, 1.0]])))
    >>> edges.rows.tolist(), edges.columns.tolist()
    ([0, 0, 1], [0, 1, 1])
    >>> edges.row_sums(torch.tensor([[1.0], [2.0], [4.0]])).tolist()
    [[3.0], [4.0]]
    """
    matrix = operator.matrix
    index = matrix.indices.dtype
    counts = matrix.indptr.diff().long()
    with warnings.catch_warnings():  # PyTorch calls its CSR layout "beta", once per process
        warnings.simplefilter("ignore")
        pattern = torch.sparse_csr_tensor(
            matrix.indptr, matrix.indices, torch.zeros_like(matrix.values), size=matrix.shape
        )
    nodes = torch.arange(matrix.shape[0], device=matrix.device)
    return Edges(
        matrix=matrix,
        rows=torch.repeat_interleave(nodes, counts),
        columns=matrix.indices.long(),
        positions=torch.arange(matrix.num_nonzeros, dtype=index, device=matrix.device),
        transpose_order=matrix.transpose_order.to(index),
        pattern=pattern,
    )


def padded(signal: Tensor) -> Tensor:
    """Add columns of zeros up to a multiple of 8: inner products of other widths are slow.

    On 590,000 edges: 6.8 ms for 3 columns, 1.2 ms for 8.
    """
    return pad(signal, (0, -signal.shape[1] % 8))


def _bags(signal: Tensor, order: Tensor, indptr: Tensor, mode: int) -> Tensor:
    if signal.numel() == 0:
        return signal.new_zeros(indptr.numel() - 1, signal.shape[1])
    found, _, _, _ = torch.embedding_bag(
        signal.detach(), order, indptr, False, mode, False, None, True
    )
    return found


def _select(signal: Tensor, places: Tensor) -> Tensor:
    """Return rows of (M, K); a single column is read as a vector: a tenth of the time."""
    if signal.shape[1] == 1:
        return signal.reshape(-1).index_select(0, places).unsqueeze(1)
    return signal.index_select(0, places)


# --- differentiable ------------------------------------------------------------------------------


def to_rows(signal: Tensor, edges: Edges) -> Tensor:
    """Give every edge the signal of the node that receives, (N, K) -> (E, K)."""
    found: Tensor = _Gather.apply(signal, edges, True)  # type: ignore[no-untyped-call]
    return found


def to_columns(signal: Tensor, edges: Edges) -> Tensor:
    """Give every edge the signal of the node that sends, (N, K) -> (E, K)."""
    found: Tensor = _Gather.apply(signal, edges, False)  # type: ignore[no-untyped-call]
    return found


def edge_softmax(scores: Tensor, edges: Edges) -> Tensor:
    """Softmax of scores (E, K) over the edges of each row, stable for scores of any size."""
    weights: Tensor = _Softmax.apply(scores, edges)  # type: ignore[no-untyped-call]
    return weights


def weighted_sum(weights: Tensor, signal: Tensor, edges: Edges) -> Tensor:
    """Sum ``weights[e, k] * signal[column, k]`` over each row's edges, for K heads at once.

    (E, K), (N, K, D) -> (N, K, D): a sparse product whose matrix has learned values, differentiable
    in both. The (E, K, D) messages are never built.
    """
    found: Tensor = _WeightedSum.apply(weights, signal, edges)  # type: ignore[no-untyped-call]
    return found


def inner_products(left: Tensor, right: Tensor, edges: Edges) -> Tensor:
    """Return ``left[row] . right[column]`` of every edge, (N, D), (N, D) -> (E,)."""
    found: Tensor = _InnerProducts.apply(left, right, edges)  # type: ignore[no-untyped-call]
    return found


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, signal: Tensor, edges: Edges, is_row: bool) -> Tensor:
        ctx.edges, ctx.is_row = edges, is_row
        return _select(signal, edges.rows if is_row else edges.columns)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        sums = ctx.edges.row_sums if ctx.is_row else ctx.edges.column_sums
        return sums(gradients[0].contiguous()), None, None


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, edges: Edges) -> Tensor:
        largest = edges.row_maxima(scores.contiguous())
        weights = (scores - _select(largest, edges.rows)).exp_()
        totals = edges.row_sums(weights)
        weights.div_(_select(totals, edges.rows))
        ctx.edges = edges
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (weights,) = ctx.saved_tensors
        pulled = weights * gradients[0]
        totals = _select(ctx.edges.row_sums(pulled), ctx.edges.rows)
        return pulled.sub_(totals.mul_(weights)), None


class _WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, signal: Tensor, edges: Edges) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(weights, signal)
        parts = [
            edges.product(values, head)
            for values, head in zip(_by_head(weights), _by_head(signal), strict=True)
        ]
        return torch.stack(parts, dim=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        weights, signal = ctx.saved_tensors
        edges: Edges = ctx.edges
        pulls = _by_head(gradients[0])
        for_weights = for_signal = None
        if ctx.needs_input_grad[0]:
            for_weights = torch.empty_like(weights)  # stored as they are
            for place, pair in enumerate(zip(pulls, _by_head(signal), strict=True)):
                for_weights[:, place] = edges.inner_products(*pair)
        if ctx.needs_input_grad[1]:
            parts = [
                edges.transpose_product(values, pull)
                for values, pull in zip(_by_head(weights), pulls, strict=True)
            ]
            for_signal = torch.stack(parts, dim=1)
        return for_weights, for_signal, None


class _InnerProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, edges: Edges) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(left, right)
        return edges.inner_products(left, right)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        left, right = ctx.saved_tensors
        matrix = ctx.edges.matrix.with_values(gradients[0].contiguous())
        return matrix @ right, matrix.transpose_product(left), None


def _by_head(tensor: Tensor) -> tuple[Tensor, ...]:
    """Split (M, K, ...) into K contiguous parts."""
    return tensor.transpose(0, 1).contiguous().unbind()
