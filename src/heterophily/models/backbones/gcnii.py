"""GCNII wiring: an input map, layers that see the initial state, an output map."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.inputs import GraphInputs
from heterophily.models.backbones.stack import drop


class Gcnii(nn.Module):
    r"""The wiring of Chen et al. (2020).

    .. math:: H^{(0)} = \text{ReLU}(X W_\text{in} + b), \quad
              H^{(\ell)} = \text{layer}_\ell(H^{(\ell-1)}, H^{(0)}), \quad
              \text{logits} = H^{(n)} W_\text{out} + b

    with dropout before every map. ``make_layer(number)`` builds layer 1, 2, ...
    """

    def __init__(
        self,
        num_features: int,
        hidden: int,
        num_classes: int,
        depth: int,
        make_layer: Callable[[int], nn.Module],
        make_map: Callable[[int, int], FeatureLinear],
        *,
        dropout: float,
        input_dropout: float,
        output_relu: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout, self.output_relu = dropout, input_dropout, output_relu
        self.input = make_map(num_features, hidden)
        self.layers = nn.ModuleList(make_layer(number) for number in range(1, depth + 1))
        self.output = make_map(hidden, num_classes)

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C)."""
        features = drop(inputs.features, self.input_dropout, training=self.training)
        initial = torch.relu(self.input(features))
        state = dropout(initial, self.dropout, training=self.training)
        for layer in self.layers:
            output = torch.relu(layer(state, initial, inputs.operator, weights=weights))
            state = dropout(output, self.dropout, training=self.training)
        logits: Tensor = self.output(state)
        return torch.relu(logits) if self.output_relu else logits
