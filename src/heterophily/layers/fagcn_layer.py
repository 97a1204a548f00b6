"""FAGCN's layer: a coefficient in [-1, 1] for every edge."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heterophily.layers.dropout import dropout
from heterophily.layers.edges import Edges, to_columns, to_rows, weighted_sum
from heterophily.layers.initialization import initialize


class FagcnLayer(nn.Module):
    r"""Section 3: a coefficient in [-1, 1] for every edge, positive low pass, negative high.

    .. math:: \alpha_{ij} = \tanh(g^T [h_i \| h_j]), \qquad
              h'_i = \varepsilon h^{(0)}_i + \sum_j \frac{\alpha_{ij}}{\sqrt{d_i d_j}} h_j
    """

    def __init__(self, width: int, *, epsilon: float, attention_dropout: float) -> None:
        super().__init__()
        self.epsilon, self.rate = epsilon, attention_dropout
        self.receiver = nn.Parameter(torch.empty(width, 1))
        self.sender = nn.Parameter(torch.empty(width, 1))
        initialize(self.receiver, "glorot")
        initialize(self.sender, "glorot")

    def forward(self, state: Tensor, initial: Tensor, edges: Edges) -> Tensor:
        """Map (N, H) to (N, H); the values of the edges are :math:`1 / \\sqrt{d_i d_j}`."""
        weights = dropout(self.coefficients(state, edges), self.rate, training=self.training)
        weights = weights * edges.values.unsqueeze(1)
        return self.epsilon * initial + weighted_sum(weights, state.unsqueeze(1), edges).squeeze(1)

    def coefficients(self, state: Tensor, edges: Edges) -> Tensor:
        """Return alpha, (E, 1)."""
        received = to_rows(state @ self.receiver, edges)
        return torch.tanh(received + to_columns(state @ self.sender, edges))
