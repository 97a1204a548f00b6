"""FAGCN: attention that may be negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.edges import edges_of
from heterophily.layers.fagcn_layer import FagcnLayer
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class FagcnOptions(BaselineOptions):
    r"""Frequency adaptation.

    Parameters
    ----------
    depth
        Number of propagation layers.
    epsilon
        Share :math:`\varepsilon` of the initial state in each layer.
    attention_dropout
        Rate of the dropout on the coefficients; by default ``dropout``.
    """

    hidden: int = 32
    depth: int = 2
    epsilon: float = 0.3
    attention_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_share("epsilon", self.epsilon)
        check_rate(self.attention_rate, name="attention_dropout")

    @property
    def attention_rate(self) -> float:
        """Rate of the dropout on the coefficients."""
        return self.dropout if self.attention_dropout is None else self.attention_dropout


class Fagcn(nn.Module):
    """Bo et al. (2021): a map in, layers that mix frequencies, a map out. No loops are added."""

    card: ClassVar[Card] = Card(
        does="For each edge, learns a number between -1 and 1: add the neighbour, or subtract it.",
        paper="Bo et al. 2021, Beyond Low-frequency Information in GCNs, section 3",
        cost="O(nnz(X) H + E H)",
    )

    def __init__(
        self, options: FagcnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = options.dropout, options.input_rate
        self.input = FeatureLinear(num_features, options.hidden, bias=True, initialization="glorot")
        self.layers = nn.ModuleList(
            FagcnLayer(
                options.hidden, epsilon=options.epsilon, attention_dropout=options.attention_rate
            )
            for _ in range(options.depth)
        )
        self.output = FeatureLinear(options.hidden, num_classes, bias=True, initialization="glorot")

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        edges = edges_of(inputs.operator)
        features = drop_features(inputs.features, self.input_dropout, training=self.training)
        initial = dropout(torch.relu(self.input(features)), self.dropout, training=self.training)
        state = initial
        for layer in self.layers:
            state = layer(state, initial, edges)
        logits: Tensor = self.output(state)
        return logits
