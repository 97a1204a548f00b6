"""Propagation: multiplying node signals by a fixed sparse operator, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.layers.sparse_matrix import SparseMatrix

NARROW = 64  # columns up to which signals share one product; wider ones overflow the cache


class Propagation:
    """A fixed (N, N) operator such as Â, applied to dense node signals.

    Differentiable in the signal; the backward pass multiplies by the stored transpose.

    >>> import scipy.sparse as sp
    >>> operator = Propagation.from_scipy(sp.csr_array([[0.5, 0.5], [0.0, 1.0]]))
    >>> signal = torch.tensor([[2.0], [4.0]], requires_grad=True)
    >>> operator(signal).sum().backward()
    >>> operator(signal).tolist(), signal.grad.tolist()
    ([[3.0], [4.0]], [[0.5], [1.5]])
    """

    def __init__(self, matrix: SparseMatrix) -> None:
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"an operator on nodes is square, got shape {matrix.shape}")
        self.matrix = matrix

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> Propagation:
        """Copy a SciPy sparse matrix."""
        return cls(SparseMatrix.from_scipy(matrix, dtype=dtype, device=device))

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.matrix.shape[0]

    def __call__(self, signal: Tensor) -> Tensor:
        """Return the operator times a signal, (N, K) -> (N, K)."""
        if not (torch.is_grad_enabled() and signal.requires_grad):
            return self.matrix @ signal
        return product(signal, self.matrix)

    def to(self, *, dtype: torch.dtype, device: torch.device | str) -> Propagation:
        """Return a copy of another type or on another device."""
        place = torch.empty(0, device=device).device  # "cuda" means the current one
        if dtype == self.matrix.dtype and place == self.matrix.device:
            return self
        return Propagation(self.matrix.to(dtype=dtype, device=device))

    # --- several signals at once, for the channels of a layer (not differentiable) ------------

    def forward_all(self, signals: Sequence[Tensor]) -> Sequence[Tensor]:
        """Multiply several signals; narrow ones travel as one block."""
        return _joined(self.matrix.__matmul__, signals)

    def backward_all(self, signals: Sequence[Tensor]) -> Sequence[Tensor]:
        """Multiply several signals by the transpose."""
        return _joined(self.matrix.transpose_product, signals)


def _joined(product: Any, signals: Sequence[Tensor]) -> Sequence[Tensor]:
    widths = [signal.shape[1] for signal in signals]
    if len(signals) == 1 or sum(widths) > NARROW:
        return [product(signal) for signal in signals]
    blocks: tuple[Tensor, ...] = product(torch.cat(list(signals), dim=1)).split(widths, dim=1)
    return blocks


def product(signal: Tensor, matrix: SparseMatrix, *, is_transposed: bool = False) -> Tensor:
    """Multiply a signal by a matrix or its transpose; differentiable as often as wanted."""
    found: Tensor = _Product.apply(signal, matrix, is_transposed)  # type: ignore[no-untyped-call]
    return found


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, signal: Tensor, matrix: SparseMatrix, is_transposed: bool) -> Tensor:
        ctx.matrix, ctx.is_transposed = matrix, is_transposed
        return matrix.transpose_product(signal) if is_transposed else matrix @ signal

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        found = product(gradients[0], ctx.matrix, is_transposed=not ctx.is_transposed)
        return found, None, None
