"""The averages ÂX of sparse features, which are only ever multiplied: ``(ÂX) W = Â (X W)``."""

from __future__ import annotations

from typing import TypeAlias

from torch import Tensor

from heterophily.filters.filter import Filter
from heterophily.layers.propagation import product
from heterophily.layers.sparse_features import SparseFeatures
from heterophily.layers.sparse_matrix import SparseMatrix


class AveragedFeatures:
    """``Â X`` for n nodes: the rows of Â (n, M), and X (M, F) of all that they refer to.

    The mean of sparse rows over many neighbours is dense; a weight of few columns comes first.

    >>> import scipy.sparse as sp
    >>> import torch
    >>> rows = SparseMatrix.from_scipy(sp.csr_array([[0.5, 0.5]]))
    >>> features = SparseFeatures.from_scipy(sp.csr_array([[2.0, 0.0], [0.0, 4.0]]))
    >>> AveragedFeatures(rows, features) @ torch.tensor([[1.0], [3.0]])
    tensor([[7.]])
    """

    def __init__(self, operator: SparseMatrix, features: SparseFeatures) -> None:
        self.operator, self.features = operator, features

    @property
    def shape(self) -> tuple[int, int]:
        """Sizes (n, F)."""
        return self.operator.shape[0], self.features.shape[1]

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Return ``Â (X W)`` for a weight (F, H)."""
        return product(self.features @ weight, self.operator)


Averages: TypeAlias = Tensor | SparseFeatures | AveragedFeatures


def filtered_product(
    filter: Filter, own: Tensor | SparseFeatures, averages: Averages, weight: Tensor
) -> Tensor:
    """Return ``(identity * X + aggregate * ÂX) W`` as a sum of products, (n, H)."""
    found: Tensor | None = None
    for factor, block in ((filter.identity, own), (filter.aggregate, averages)):
        if factor:
            part = block @ weight if factor == 1 else factor * (block @ weight)
            found = part if found is None else found + part
    return own @ weight * 0.0 if found is None else found
