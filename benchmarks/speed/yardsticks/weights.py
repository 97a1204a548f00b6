"""Weights and mixing that both yardsticks share; they differ in how they multiply."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

Channels = Callable[["Layer", Tensor], list[Tensor]]


class Layer(nn.Module):
    """Three or four separate weights (with A: W_A as well), mixing vectors and W_mix."""

    def __init__(self, in_features: int, out_features: int, num_nodes: int | None) -> None:
        super().__init__()
        shapes = [(in_features, out_features)] * 3
        shapes += [(num_nodes, out_features)] if num_nodes is not None else []
        bound = 1 / math.sqrt(out_features)
        self.weights = nn.ParameterList(torch.empty(s).uniform_(-bound, bound) for s in shapes)
        self.vectors = nn.ParameterList(
            torch.empty(out_features, 1).uniform_(-1, 1) for _ in shapes
        )
        bound = 1 / math.sqrt(len(shapes))
        self.mix_weight = nn.Parameter(
            torch.empty(len(shapes), len(shapes)).uniform_(-bound, bound)
        )

    def mix(self, channels: list[Tensor]) -> Tensor:
        """Return ``sum_k diag(alpha_k) H_k`` with the paper's softmax weights (section 4.2)."""
        count = len(channels)
        scores = [torch.mm(h, v) for h, v in zip(channels, self.vectors, strict=True)]
        alpha = torch.sigmoid(torch.cat(scores, 1))
        alpha = torch.softmax(torch.mm(alpha, self.mix_weight) / count, 1)
        scale = 3 if count == 3 else 1
        return scale * sum(alpha[:, k][:, None] * channels[k] for k in range(count))  # type: ignore[return-value]


class TwoLayers(nn.Module):
    """ACM-GCN: dropout on the input and after the hidden ReLU, logits are the mixture."""

    def __init__(
        self,
        sizes: tuple[int, int, int],
        num_nodes: int | None,
        rate: float,
        channels: Channels,
    ) -> None:
        super().__init__()
        num_features, hidden, num_classes = sizes
        self.first = Layer(num_features, hidden, num_nodes)
        self.second = Layer(hidden, num_classes, num_nodes)
        self.rate, self.channels = rate, channels

    def forward(self, features: Tensor) -> Tensor:
        hidden = dropout(features, self.rate, training=self.training)
        hidden = torch.relu(self.first.mix(self.channels(self.first, hidden)))
        hidden = dropout(hidden, self.rate, training=self.training)
        return self.second.mix(self.channels(self.second, hidden))
