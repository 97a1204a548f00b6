"""Snowball wiring: each layer sees the input and everything before it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import dropout
from heterophily.layers.inputs import GraphInputs
from heterophily.models.backbones.stack import LayerFactory, drop


class Snowball(nn.Module):
    r"""The densely connected network of Luan et al. (2019).

    .. math:: H_{k+1} = \text{ReLU}(\text{layer}_k([X, H_1, .., H_k])), \qquad
              \text{logits} = \text{layer}([X, H_1, .., H_n])

    for n hidden layers. The blocks are never joined: each meets its rows of the weight, so a
    sparse X stays sparse. ReLU takes the place of the tanh of Luan et al., as in the ACM paper's
    step 3 and its released code.
    """

    def __init__(
        self,
        num_features: int,
        hidden: int,
        num_classes: int,
        depth: int,
        make_layer: LayerFactory,
        *,
        dropout: float,
        input_dropout: float,
        output_relu: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout, self.output_relu = dropout, input_dropout, output_relu
        seen = [num_features + k * hidden for k in range(depth + 1)]
        self.layers = nn.ModuleList(
            make_layer(width, hidden, is_output=False) for width in seen[:-1]
        )
        self.output = make_layer(seen[-1], num_classes, is_output=True)

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C)."""
        features = drop(inputs.features, self.input_dropout, training=self.training)
        blocks: tuple[Block, ...] = (features,)
        for layer in self.layers:
            output = layer(blocks, inputs.operator, inputs.structure, weights=weights)
            hidden = dropout(torch.relu(output), self.dropout, training=self.training)
            blocks = (*blocks, hidden)
        logits: Tensor = self.output(blocks, inputs.operator, inputs.structure, weights=weights)
        return torch.relu(logits) if self.output_relu else logits
