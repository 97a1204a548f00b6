"""Node classifiers: a backbone with the layers that its options describe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.gcnii_layer import GcniiLayer
from heterophily.layers.inputs import GraphInputs
from heterophily.models.backbones.gcnii import Gcnii
from heterophily.models.backbones.snowball import Snowball
from heterophily.models.backbones.stack import Stack
from heterophily.models.options import GcniiOptions, SnowballOptions, StackOptions


class NodeClassifier(nn.Module):
    """A network from a prepared graph to logits."""

    backbone: nn.Module

    def forward(
        self, inputs: GraphInputs, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, tuple[Tensor, ...]]:
        """Return the logits (N, C), and on request the mixing weights (N, K) of each layer."""
        if not return_weights:
            logits: Tensor = self.backbone(inputs)
            return logits
        weights: list[Tensor] = []
        logits = self.backbone(inputs, weights=weights)
        return logits, tuple(weights)

    @torch.no_grad()
    def channel_weights(self, inputs: GraphInputs) -> tuple[Tensor, ...]:
        """Return the mixing weights alpha of each layer, (N, K), without dropout.

        Columns follow the order of the channels; networks without adaptive mixing give ``()``.
        """
        was_training = self.training
        self.eval()
        try:
            _, weights = self(inputs, return_weights=True)
        finally:
            self.train(was_training)
        found: tuple[Tensor, ...] = weights
        return found


@runtime_checkable
class RowWise(Protocol):
    """A network that may see each node by itself, through channels that are computed once."""

    @property
    def row_channels(self) -> tuple[str, ...] | None:
        """The channels that it sees; None when it must look at neighbours again."""
        ...

    def on_rows(
        self, blocks: Mapping[str, Block], *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the logits (n, C) of some nodes from their channels, (n, F) each."""
        ...


class StackNetwork(NodeClassifier):
    """GCN, MLP, SGC and their ACM twins: layers one after the other."""

    backbone: Stack

    def __init__(
        self, options: StackOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.backbone = Stack(
            [num_features, *[options.hidden] * (options.depth - 1), num_classes],
            partial(options.make_layer, num_nodes=num_nodes),
            dropout=options.dropout,
            input_dropout=options.input_rate,
            output_relu=options.output_relu,
            residual=options.residual,
            make_residual=partial(
                FeatureLinear, bias=options.residual_bias, initialization=options.initialization
            ),
        )

    @property
    def row_channels(self) -> tuple[str, ...] | None:
        """The channels through which single nodes are seen: SGC, MLP and ACM-SGC."""
        return self.backbone.row_channels

    def on_rows(
        self, blocks: Mapping[str, Block], *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the logits (n, C) of some nodes from their channels."""
        return self.backbone.on_rows(blocks, weights=weights)


class SnowballNetwork(NodeClassifier):
    """Snowball and its ACM twins."""

    def __init__(
        self, options: SnowballOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.backbone = Snowball(
            num_features,
            options.hidden,
            num_classes,
            options.depth,
            partial(options.make_layer, num_nodes=num_nodes),
            dropout=options.dropout,
            input_dropout=options.input_rate,
            output_relu=options.output_relu,
        )


class GcniiNetwork(NodeClassifier):
    """GCNII, GCNII* and their ACM twins."""

    def __init__(
        self, options: GcniiOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()

        def make_layer(number: int) -> GcniiLayer:
            return GcniiLayer(
                options.hidden,
                options.make_mixer(options.hidden),
                alpha=options.alpha_l,
                beta=math.log(options.lambda_ / number + 1.0),
                is_star=options.is_star,
                channels=options.layer_channels,
                initialization=options.initialization,
            )

        self.backbone = Gcnii(
            num_features,
            options.hidden,
            num_classes,
            options.depth,
            make_layer,
            partial(FeatureLinear, bias=True, initialization=options.initialization),
            dropout=options.dropout,
            input_dropout=options.input_rate,
            output_relu=options.output_relu,
        )
