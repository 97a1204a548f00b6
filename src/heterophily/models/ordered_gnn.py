"""OrderedGNN: columns are ordered by the distance from which they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class OrderedGnnOptions(BaselineOptions):
    """Ordered neurons.

    Parameters
    ----------
    depth
        Number of message passing layers.
    gates
        Number of gates, each for ``hidden / gates`` columns; by default one for every column.
    shares_gate
        Whether all layers share the map that computes the gates, as in the released program.
    """

    dropout: float = 0.2
    input_dropout: float | None = 0.0
    depth: int = 4
    gates: int | None = None
    shares_gate: bool = True

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        if self.gates is not None:
            check_count("gates", self.gates)
            if self.hidden % self.gates:
                raise InputError(
                    f"hidden={self.hidden} cannot be divided among gates={self.gates}; choose a "
                    "multiple"
                )


class OrderedGnn(nn.Module):
    r"""Song et al. (2023), section 3.

    .. math:: m_v = \text{mean}_{u \in N(v)} h_u, \quad
              \hat g = \text{cumsum}(\text{softmax}(W [h_v \| m_v] + b)), \quad
              g^k = g^{k-1} + (1 - g^{k-1}) \circ \hat g

    .. math:: h_v \leftarrow \text{LayerNorm}(g^k \circ h_v + (1 - g^k) \circ m_v)

    The gates only grow: what a column has kept from near by, farther layers cannot overwrite.
    """

    card: ClassVar[Card] = Card(
        does=(
            "Messages from near nodes fill the first columns of the state, those from further "
            "away the next ones."
        ),
        paper="Song et al. 2023, Ordered GNN, section 3",
        cost="O(nnz(X) H + L (E H + N H²))",
        departs="one input map",
    )

    def __init__(
        self, options: OrderedGnnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        hidden, gates = options.hidden, options.gates or options.hidden
        self.repeats = hidden // gates
        self.input = FeatureLinear(num_features, hidden, bias=True).begin_like_torch()
        self.input_norm = nn.LayerNorm(hidden)
        maps = 1 if options.shares_gate else options.depth
        self.gate_maps = nn.ModuleList(
            FeatureLinear(2 * hidden, gates, bias=True).begin_like_torch() for _ in range(maps)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(options.depth))
        self.output = FeatureLinear(hidden, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        rate, training = self.options.dropout, self.training
        features = drop_features(inputs.features, self.options.input_rate, training=training)
        state = self.input_norm(torch.relu(self.input(features)))
        gate: Tensor | float = 0.0
        for place, norm in enumerate(self.norms):
            state = dropout(state, rate, training=training)
            message = inputs.operator(state)
            gate = self.next_gate(place, state, message, gate)
            kept = gate.repeat_interleave(self.repeats, dim=1)
            state = norm(kept * state + (1.0 - kept) * message)
        logits: Tensor = self.output(dropout(state, rate, training=training))
        return logits

    def next_gate(
        self, place: int, state: Tensor, message: Tensor, before: Tensor | float
    ) -> Tensor:
        """Return the gates of a layer, (N, D), in [0, 1], growing along the row and the layers."""
        linear = self.gate_maps[place % len(self.gate_maps)]
        raw = linear(torch.cat([state, message], dim=1)).softmax(1).cumsum(1)
        found: Tensor = before + (1.0 - before) * raw
        return found
