"""Convolutions as values: what gathers the neighbourhood inside a residual block.

Each maps a state (N, H) to (N, W); ``width`` is W. Weights of the neighbourhood mean are left to
the linear map that follows in the block, as in Platonov et al. (2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor

from heterophily.errors import InputError, lookup
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.channel import PAPER_CHANNELS, Order
from heterophily.layers.convolution import Convolution, ConvolutionOptions
from heterophily.layers.directed_convolutions import (
    DIRECTED_CHANNELS,
    DirectedEgoAndMean,
    DirectedMixing,
    DirectedSmoothing,
)
from heterophily.layers.edges import edges_of
from heterophily.layers.fagcn_layer import FagcnLayer
from heterophily.layers.gat_layer import GatLayer
from heterophily.layers.inputs import GraphInputs


class Smoothing(Convolution):
    r"""GCN without its weight: :math:`\hat A H`."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = hidden

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the smoothed state, (N, H)."""
        return inputs.operator(state)


class EgoAndMean(Convolution):
    r"""GraphSAGE without its weight: :math:`[H \,\|\, D^{-1} A H]`, ego and neighbours apart."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = 2 * hidden

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the state beside that of the neighbours, (N, 2H)."""
        return torch.cat([state, inputs.operator(state)], dim=1)


class Attention(Convolution):
    """GAT: neighbours, and the node itself, weighted by attention; heads side by side."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        if hidden % options.heads:
            raise InputError(
                f"hidden={hidden} cannot be divided among heads={options.heads}; choose a multiple"
            )
        self.width = hidden
        self.attention = GatLayer(
            hidden,
            hidden // options.heads,
            heads=options.heads,
            attention_dropout=options.attention_dropout,
        )

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the attended state, (N, H)."""
        found: Tensor = self.attention(state, edges_of(inputs.operator))
        return found


class EgoAndAttention(Attention):
    r"""GAT-sep: :math:`[H \,\|\, \text{GAT}(H)]` with attention over the neighbours alone."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__(hidden, options)
        self.width = 2 * hidden

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the state beside the attended neighbours, (N, 2H)."""
        return torch.cat([state, super().forward(state, inputs)], dim=1)


class SignedAttention(Convolution):
    """FAGCN: coefficients between -1 and 1, the state itself in the place of the initial one."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = hidden
        self.layer = FagcnLayer(
            hidden, epsilon=options.epsilon, attention_dropout=options.attention_dropout
        )

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the mixed frequencies, (N, H)."""
        found: Tensor = self.layer(state, state, edges_of(inputs.operator))
        return found


class ChannelMixing(Convolution):
    """ACM: low pass, high pass and identity with their own weights, mixed node by node.

    With the structure channel the nodes of the graph have weights of their own, as in ACM-GCN+.
    """

    order: Order = "filter-then-activate"

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = hidden
        channels = (*PAPER_CHANNELS, *(["structure"] if options.with_structure else ()))
        mixer = AdaptiveMixer(
            hidden,
            len(channels),
            use_layer_norm=options.use_layer_norm,
            initialization="glorot",
        )
        self.layer = AcmLayer(
            hidden,
            hidden,
            mixer,
            channels=channels,
            order=self.order,
            num_nodes=options.num_nodes,
            initialization="glorot",
        )

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the mixture, (N, H)."""
        found: Tensor = self.layer(state, inputs.operator, inputs.structure, weights=weights)
        return found


class ChannelMixingII(ChannelMixing):
    """ACMII: the channels are activated before they are filtered."""

    order: Order = "activate-then-filter"


class ConvolutionFactory(Protocol):
    """What builds a convolution for H columns."""

    def __call__(self, hidden: int, options: ConvolutionOptions) -> Convolution:
        """Build it."""
        ...


CONVOLUTIONS: Mapping[str, ConvolutionFactory] = {
    "gcn": Smoothing,
    "sage": EgoAndMean,
    "gat": Attention,
    "gat-sep": EgoAndAttention,
    "fagcn": SignedAttention,
    "acm": ChannelMixing,
    "acmii": ChannelMixingII,
    "dir-gcn": DirectedSmoothing,
    "dir-sage": DirectedEgoAndMean,
    "dir-acm": DirectedMixing,
}
MIXED_CHANNELS: Mapping[str, tuple[str, ...]] = {
    "acm": PAPER_CHANNELS,
    "acmii": PAPER_CHANNELS,
    "dir-acm": DIRECTED_CHANNELS,
}
"""Convolutions that mix channels node by node, and the names of the channels."""
WITH_PLUS = ("acm", "acmii")
"""Convolutions that may have the structure channel and the layer norm of ACM-GCN+."""


def make_convolution(name: str, hidden: int, options: ConvolutionOptions) -> Convolution:
    """Build a convolution by its name.

    >>> make_convolution("sage", 8, ConvolutionOptions()).width
    16
    """
    return lookup(CONVOLUTIONS, "convolution", name)(hidden, options)
