"""Graph attention: neighbours weighted by a softmax of learned scores."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import dropout
from heterophily.layers.edges import Edges, edge_softmax, to_columns, to_rows, weighted_sum
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.initialization import draw_uniform


class GatLayer(nn.Module):
    r"""The attention layer of Veličković et al. (2018), Eqs. 3 to 6.

    For each of K heads, with j over the neighbours of i and i itself:

    .. math:: \alpha_{ij} = \text{softmax}_j\, \text{LeakyReLU}(a_1^T W h_i + a_2^T W h_j), \qquad
              h'_i = \sum_j \alpha_{ij} W h_j + b

    Heads are joined (Eq. 5) or, with ``joins_heads=False``, averaged (Eq. 6).
    """

    def __init__(
        self,
        in_features: int,
        width: int,
        *,
        heads: int,
        joins_heads: bool = True,
        attention_dropout: float = 0.0,
        negative_slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.heads, self.width, self.joins_heads = heads, width, joins_heads
        self.attention_dropout, self.negative_slope = attention_dropout, negative_slope
        self.linear = FeatureLinear(in_features, heads * width, initialization="glorot")
        self.receiver = nn.Parameter(torch.empty(heads, width))  # a_1
        self.sender = nn.Parameter(torch.empty(heads, width))  # a_2
        self.bias = nn.Parameter(torch.zeros(heads * width if joins_heads else width))
        bound = math.sqrt(6.0 / (heads + width))
        draw_uniform(self.receiver, bound)
        draw_uniform(self.sender, bound)

    def forward(self, features: Block, edges: Edges) -> Tensor:
        """Map (N, F) to (N, K * D), or to (N, D) when the heads are averaged."""
        hidden = self.linear(features).view(-1, self.heads, self.width)
        weights = dropout(
            self.attention(hidden, edges), self.attention_dropout, training=self.training
        )
        output = weighted_sum(weights, hidden, edges)  # (N, K, D)
        return (output.flatten(1) if self.joins_heads else output.mean(1)) + self.bias

    def attention(self, hidden: Tensor, edges: Edges) -> Tensor:
        """Return the weights alpha, (E, K), that sum to 1 over each node's edges."""
        received = to_rows((hidden * self.receiver).sum(2), edges)
        sent = to_columns((hidden * self.sender).sum(2), edges)
        return edge_softmax(leaky_relu(received + sent, self.negative_slope), edges)
