"""Attention on the edges of one relation, as one step that keeps two arrays of edges."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from heterophily.layers.edges import Edges, padded


def relation_attention(
    hidden: Tensor,
    received: Tensor,
    sent: Tensor,
    factors: Tensor,
    edges: Edges,
    *,
    slope: float = 0.2,
) -> Tensor:
    r"""Sum :math:`p_e \alpha_e h_{u(e)}` over the edges e from u that each node v receives, (N, H).

    .. math:: \alpha_e = \text{softmax}_e \, \text{LeakyReLU}(r_{v(e)} + s_{u(e)})

    ``received`` r and ``sent`` s (N, 1) are of the two ends of an edge, the softmax is over the
    edges of the end that receives, ``factors`` p (E, 1) are constants.
    """
    found: Tensor = _Attention.apply(hidden, received, sent, factors, edges, slope)  # type: ignore[no-untyped-call]
    return found


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        received: Tensor,
        sent: Tensor,
        factors: Tensor,
        edges: Edges,
        slope: float,
    ) -> Tensor:
        scores = _at(received, edges.rows).add_(_at(sent, edges.columns))
        is_negative = scores < 0
        shares = leaky_relu(scores, slope, inplace=True)
        shares.sub_(_at(edges.row_maxima(shares), edges.rows)).exp_()
        shares.div_(_at(edges.row_sums(shares), edges.rows))
        ctx.edges, ctx.slope = edges, slope
        ctx.save_for_backward(hidden, shares, is_negative, factors)
        return edges.product((shares * factors).squeeze(1), hidden)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (hidden, shares, is_negative, factors), edges = ctx.saved_tensors, ctx.edges
        pull, weights = gradients[0].contiguous(), shares * factors
        for_hidden = edges.transpose_product(weights.squeeze(1), pull)
        for_weights = edges.inner_products(padded(pull), padded(hidden)).unsqueeze(1)
        pulled = for_weights.mul_(weights)
        pulled.addcmul_(_at(edges.row_sums(pulled), edges.rows), shares, value=-1.0)
        pulled = torch.where(is_negative, pulled * ctx.slope, pulled)
        return for_hidden, edges.row_sums(pulled), edges.column_sums(pulled), None, None, None


def _at(signal: Tensor, places: Tensor) -> Tensor:
    """Return entries of a column (M, 1), read as a vector."""
    return signal.reshape(-1).index_select(0, places).unsqueeze(1)
