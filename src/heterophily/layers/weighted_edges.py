"""Â whose edge weights receive a gradient: plain PyTorch operations on an edge list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

if TYPE_CHECKING:
    from heterophily.layers.propagation import Propagation


class WeightedEdges:
    """An (N, N) operator of E weighted edges, differentiable in the weights and in the signal.

    Slower than a :class:`~heterophily.layers.propagation.Propagation`, whose values are fixed.

    >>> swap = torch.tensor([[0, 1], [1, 0]])
    >>> weight = torch.tensor([2.0, 1.0], requires_grad=True)
    >>> WeightedEdges(swap[0], swap[1], weight, 2)(torch.tensor([[1.0], [3.0]])).tolist()
    [[3.0], [2.0]]
    """

    def __init__(self, source: Tensor, target: Tensor, weight: Tensor, num_nodes: int) -> None:
        self.source, self.target, self.weight = source, target, weight
        self.num_nodes = num_nodes

    @classmethod
    def of(cls, operator: Propagation) -> WeightedEdges:
        """Return the edges of an operator with fixed values."""
        matrix = operator.matrix
        nodes = torch.arange(operator.num_nodes, device=matrix.device)
        target = torch.repeat_interleave(
            nodes, matrix.indptr.diff(), output_size=matrix.num_nonzeros
        )
        return cls(matrix.indices.long(), target, matrix.values, operator.num_nodes)

    def masked(self, mask: Tensor) -> WeightedEdges:
        """Return the operator with its first E weights multiplied by a mask (E,)."""
        count = mask.shape[0]
        weight = torch.cat([self.weight[:count] * mask, self.weight[count:]])
        return WeightedEdges(self.source, self.target, weight, self.num_nodes)

    def __call__(self, signal: Tensor) -> Tensor:
        """Return the operator times a signal, (N, K) -> (N, K)."""
        moved = self.weight.to(signal.dtype).unsqueeze(1) * signal[self.source]
        return signal.new_zeros(self.num_nodes, signal.shape[1]).index_add(0, self.target, moved)

    def normalized(
        self, kind: Literal["random-walk", "symmetric"], *, renormalize: bool
    ) -> WeightedEdges:
        """Return the normalised operator, as :func:`~heterophily.filters.normalized_adjacency`."""
        source, target, weight = self.source, self.target, self.weight
        if renormalize:
            nodes = torch.arange(self.num_nodes, device=source.device)
            source, target = torch.cat([source, nodes]), torch.cat([target, nodes])
            weight = torch.cat([weight, weight.new_ones(self.num_nodes)])
        total = weight.new_zeros(self.num_nodes).index_add(0, target, weight)
        is_some = total > 0
        inverse = torch.where(is_some, 1 / torch.where(is_some, total, 1), 0)
        if kind == "random-walk":
            scaled = weight * inverse[target]
        else:
            root = torch.where(is_some, torch.where(is_some, inverse, 1).sqrt(), 0)
            scaled = weight * root[target] * root[source]
        return WeightedEdges(source, target, scaled, self.num_nodes)
