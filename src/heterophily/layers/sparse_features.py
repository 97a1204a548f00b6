"""Sparse node features: products with weights and dropout, both on the nonzeros only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from heterophily.layers.dropout import dropout
from heterophily.layers.propagation import NARROW
from heterophily.layers.sparse_matrix import SparseMatrix


class SparseFeatures:
    """A sparse feature matrix X, (N, F), that weights are multiplied with.

    The features receive no gradient. Dropping nonzeros only is the same in distribution as
    dropping entries of the dense matrix, since a dropped zero is still zero.

    >>> import scipy.sparse as sp
    >>> features = SparseFeatures.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> features @ torch.tensor([[1.0], [3.0]])
    tensor([[6.],
            [1.]])
    """

    def __init__(self, matrix: SparseMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> SparseFeatures:
        """Copy a SciPy sparse matrix."""
        return cls(SparseMatrix.from_scipy(matrix, dtype=dtype, device=device))

    @property
    def shape(self) -> tuple[int, int]:
        """Sizes (N, F)."""
        return self.matrix.shape

    def dropout(self, rate: float, *, training: bool) -> SparseFeatures:
        """Return the features with entries dropped; see :func:`heterophily.layers.dropout`."""
        if not training or rate == 0.0:
            return self
        values = dropout(self.matrix.values, rate, training=True)
        return SparseFeatures(self.matrix.with_values(values))

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Return ``X W`` for a weight (F, H)."""
        (product,) = self.products(weight.unsqueeze(0))
        return product

    def products(self, weight: Tensor) -> Sequence[Tensor]:
        """Return ``X W_1, ..., X W_K`` for a stack of weights (K, F, H), each (N, H)."""
        if not (torch.is_grad_enabled() and weight.requires_grad):
            return _forward(self.matrix, weight)
        products: tuple[Tensor, ...] = _Products.apply(weight, self.matrix)  # type: ignore[no-untyped-call]
        return products


def _together(num_channels: int, width: int) -> int:
    """Return how many channels share one product: as many as are narrow enough side by side."""
    return max(1, min(num_channels, NARROW // max(1, width)))


def _forward(matrix: SparseMatrix, weight: Tensor) -> tuple[Tensor, ...]:
    num_channels, fan_in, width = weight.shape
    products: list[Tensor] = []
    for panels in torch.split(weight, _together(num_channels, width)):
        side_by_side = panels.transpose(0, 1).reshape(fan_in, len(panels) * width)
        products += torch.split(matrix @ side_by_side, width, dim=1)
    return tuple(products)


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: SparseMatrix) -> tuple[Tensor, ...]:
        ctx.matrix = matrix
        return _forward(matrix, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        matrix: SparseMatrix = ctx.matrix
        width = gradients[0].shape[1]
        step = _together(len(gradients), width)
        found = matrix.values.new_empty(len(gradients), matrix.shape[1], width)
        for start in range(0, len(gradients), step):
            joined = matrix.transpose_product(torch.cat(gradients[start : start + step], dim=1))
            panels = joined.view(matrix.shape[1], -1, width).transpose(0, 1)
            found[start : start + step] = panels
        return found, None
