"""SGFormer: one simple attention over all nodes beside a GCN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_count

_TINY = 1e-6


@dataclass(frozen=True, kw_only=True)
class SgformerOptions(BaselineOptions):
    """Simplified attention and a GCN.

    Parameters
    ----------
    depth
        Number of GCN layers.
    global_depth
        Number of attention layers.
    graph_weight
        Share of the GCN in the sum of both.
    """

    dropout: float = 0.3
    input_dropout: float | None = 0.0
    depth: int = 3
    global_depth: int = 1
    graph_weight: float = 0.5

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("global_depth", self.global_depth)
        check_share("graph_weight", self.graph_weight)


class SimpleAttention(nn.Module):
    r"""Attention of every node to every node in linear time, without a softmax.

    With rows of Q and K of length 1:

    .. math:: D^{-1} \big(V + \tfrac1N Q (K^T V)\big), \qquad
              D = \text{diag}\big(1 + \tfrac1N Q (K^T 1)\big)
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = FeatureLinear(width, width).begin_like_torch()
        self.key = FeatureLinear(width, width).begin_like_torch()
        self.value = FeatureLinear(width, width).begin_like_torch()

    def forward(self, state: Tensor) -> Tensor:
        """Map (N, H) to (N, H)."""
        query, key = (_unit(linear(state)) for linear in (self.query, self.key))
        value = self.value(state)
        nodes = state.shape[0]
        above = query @ (key.t() @ value) + nodes * value
        below = query @ key.sum(0, keepdim=True).t() + nodes
        found: Tensor = above / below
        return found


def _unit(rows: Tensor) -> Tensor:
    return normalize(torch.where(rows == 0, _TINY, rows), dim=1)


class _Attention(nn.Module):
    """Input map and attention layers, each averaged with its input."""

    def __init__(self, options: SgformerOptions, num_features: int) -> None:
        super().__init__()
        self.dropout, hidden = options.dropout, options.hidden
        self.input = FeatureLinear(num_features, hidden, bias=True).begin_like_torch()
        self.layers = nn.ModuleList(SimpleAttention(hidden) for _ in range(options.global_depth))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(options.global_depth + 1))

    def forward(self, features: Block) -> Tensor:
        state = self._finish(self.norms[0](self.input(features)))
        for layer, norm in zip(self.layers, self.norms[1:], strict=True):
            state = self._finish(norm((layer(state) + state) / 2.0))
        return state

    def _finish(self, state: Tensor) -> Tensor:
        return dropout(torch.relu(state), self.dropout, training=self.training)


class _Gcn(nn.Module):
    """Input map and GCN layers, to each of which the first state is added."""

    def __init__(self, options: SgformerOptions, num_features: int) -> None:
        super().__init__()
        self.dropout, hidden = options.dropout, options.hidden
        self.input = FeatureLinear(num_features, hidden, bias=True).begin_like_torch()
        self.layers = nn.ModuleList(
            FeatureLinear(hidden, hidden, bias=True, initialization="glorot")
            for _ in range(options.depth)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(options.depth + 1))

    def forward(self, features: Block, inputs: GraphInputs) -> Tensor:
        first = state = self._finish(self.norms[0](self.input(features)))
        for layer, norm in zip(self.layers, self.norms[1:], strict=True):
            assert isinstance(layer, FeatureLinear)
            assert layer.bias is not None
            gathered = inputs.operator(state @ layer.weight) + layer.bias
            state = self._finish(norm(gathered)) + first
        return state

    def _finish(self, state: Tensor) -> Tensor:
        return dropout(torch.relu(state), self.dropout, training=self.training)


class Sgformer(nn.Module):
    """Wu et al. (2023): the weighted sum of attention over all nodes and a GCN, then a map."""

    card: ClassVar[Card] = Card(
        does="Attention of every node to all nodes, plus a GCN on the edges.",
        paper="Wu et al. 2023, SGFormer, section 4",
        cost="O(nnz(X) H + L (E H + N H²))",
        departs="one head",
    )

    def __init__(
        self, options: SgformerOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        self.attention = _Attention(options, num_features)
        self.gcn = _Gcn(options, num_features)
        self.output = FeatureLinear(options.hidden, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        features = drop_features(inputs.features, self.options.input_rate, training=self.training)
        share = self.options.graph_weight
        local, everywhere = self.gcn(features, inputs), self.attention(features)
        logits: Tensor = self.output(share * local + (1.0 - share) * everywhere)
        return logits
