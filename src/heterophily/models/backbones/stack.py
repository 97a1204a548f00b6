"""Layers one after the other, with dropout, ReLU and the optional residual ``H_X`` between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block, Source
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures


class Layer(Protocol):
    """What a backbone wires: ``layer(source, operator, structure) -> (N, H)``."""

    def __call__(
        self,
        source: Source,
        operator: Propagation,
        structure: Propagation | None,
        *,
        weights: list[Tensor] | None,
    ) -> Tensor:
        """Map node features to node features."""
        ...


LayerFactory = Callable[..., nn.Module]  # (in_features, out_features, *, is_output) -> Layer


def drop(source: Block, rate: float, *, training: bool) -> Block:
    """Apply dropout to dense or sparse features."""
    if isinstance(source, SparseFeatures):
        return source.dropout(rate, training=training)
    return dropout(source, rate, training=training)


class Stack(nn.Module):
    r"""Layers of the given widths: dropout, layer, ReLU, dropout, layer, ..., logits.

    With ``residual="every-layer"`` (ACM-GCN++, appendix) each layer's output is

    .. math:: H^l = \text{ReLU}(\text{layer}_l(H^{l-1})) + H_X, \qquad H_X = \text{ReLU}(X W_X)

    where the hidden layers share :math:`W_X` and the logits (no outer ReLU) have their own. With
    ``"once"``, the released code, the second layer sees
    :math:`\text{Dropout}(H^1) + \text{Dropout}(H_X)`.
    """

    def __init__(
        self,
        widths: Sequence[int],
        make_layer: LayerFactory,
        *,
        dropout: float,
        input_dropout: float,
        output_relu: bool = False,
        residual: str = "none",
        make_residual: Callable[[int, int], FeatureLinear] = FeatureLinear,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = dropout, input_dropout
        self.output_relu, self.residual = output_relu, residual
        pairs = list(pairwise(widths))
        self.layers = nn.ModuleList(
            make_layer(before, after, is_output=place == len(pairs))
            for place, (before, after) in enumerate(pairs, start=1)
        )
        self.hidden_residual = self.output_residual = None
        if residual != "none" and len(pairs) > 1:
            self.hidden_residual = make_residual(widths[0], widths[1])
        if residual == "every-layer":
            self.output_residual = make_residual(widths[0], widths[-1])

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C)."""
        features = drop(inputs.features, self.input_dropout, training=self.training)
        shared = (
            None if self.hidden_residual is None else torch.relu(self.hidden_residual(features))
        )
        state: Block = features
        output: Tensor
        last = len(self.layers) - 1
        for place, layer in enumerate(self.layers):
            output = layer(state, inputs.operator, inputs.structure, weights=weights)
            if place < last:
                if not getattr(layer, "is_nonnegative", False):
                    output = torch.relu(output)
                state = self._hidden(output, shared, is_first=place == 0)
        if self.output_relu:
            output = torch.relu(output)
        if self.output_residual is not None:
            output = output + torch.relu(self.output_residual(features))
        return output

    def _hidden(self, output: Tensor, shared: Tensor | None, *, is_first: bool) -> Tensor:
        """Add the residual to a hidden layer's output and apply dropout."""
        rate, training = self.dropout, self.training
        if shared is None or (self.residual == "once" and not is_first):
            return dropout(output, rate, training=training)
        if self.residual == "once":
            kept = dropout(output, rate, training=training)
            return kept + dropout(shared, rate, training=training)
        return dropout(output + shared, rate, training=training)
