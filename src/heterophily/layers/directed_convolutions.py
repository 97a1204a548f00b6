"""Convolutions that gather along and against the edges, with weights of their own."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heterophily.layers.channel import resolve_channels
from heterophily.layers.channel_linear import channel_products
from heterophily.layers.convolution import Convolution, ConvolutionOptions
from heterophily.layers.directions import directions_of
from heterophily.layers.extraction import extract
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.mixing import MixRaw

DIRECTED_CHANNELS = ("low", "high", "low-reversed", "high-reversed", "identity")


class DirectedSmoothing(Convolution):
    r"""Dir-GCN (Rossi et al. 2023, Eq. 4): :math:`[\hat A H \,\|\, \hat A^T H]`.

    The linear map that follows gives each direction its own weight, :math:`\alpha` included.
    """

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = 2 * hidden

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return both directions side by side, (N, 2H)."""
        found = directions_of(inputs, "symmetric", with_loops=True)
        there = found.forward(state)
        return torch.cat([there, found.backward(state) if found.is_one_way else there], dim=1)


class DirectedEgoAndMean(Convolution):
    """Dir-SAGE: ego, mean over the nodes pointed to, mean over the nodes that point here."""

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = 3 * hidden

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return ego and both means side by side, (N, 3H)."""
        found = directions_of(inputs, "random-walk", with_loops=False)
        there = found.forward(state)
        back = found.backward(state) if found.is_one_way else there
        return torch.cat([state, there, back], dim=1)


class DirectedMixing(Convolution):
    r"""Dir-ACM: low and high pass of A and of Aᵀ and the identity, mixed node by node.

    Five channels with weights of their own, mixed as in section 4.2 of the ACM paper. Where no
    edge is one-way the two directions of a filter are the same operator: their weights, score
    vectors and entries of :math:`W_\text{Mix}` are then averaged, and the layer is ACM's with
    three channels.
    """

    def __init__(self, hidden: int, options: ConvolutionOptions) -> None:
        super().__init__()
        self.width = hidden
        count = len(DIRECTED_CHANNELS)
        self.weight = nn.Parameter(torch.empty(count, hidden, hidden))
        self.vectors = nn.Parameter(torch.empty(count, hidden, 1))
        self.mix_weight = nn.Parameter(torch.empty(count, count))
        for parameter in self.parameters():
            initialize(parameter, "glorot")

    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the mixture, (N, H); without one-way edges twins share their mixing weight."""
        found = directions_of(inputs, "random-walk", with_loops=True)
        passes = resolve_channels(("low", "high"))
        weight: Tensor = self.weight
        mix: Tensor = self.mix_weight
        vectors = self.vectors.squeeze(2)
        if not found.is_one_way:
            merge = _merging(weight)
            weight = torch.einsum("ck,kij->cij", merge, weight)
            vectors, mix = merge @ vectors, merge @ mix @ merge.t()
        *filtered, own = channel_products(state, weight)
        channels = [*extract(filtered[:2], passes, found.forward)]
        if found.is_one_way:
            channels += extract(filtered[2:], passes, found.backward)
        channels.append(torch.relu(own))
        mixture, alpha = MixRaw.apply(  # type: ignore[no-untyped-call]
            float(len(channels)), 1.0, vectors, mix, None, None, *channels
        )
        if weights is not None:
            weights.append(alpha.t() if found.is_one_way else alpha.t() @ _merging(weight))
        result: Tensor = mixture
        return result


def _merging(like: Tensor) -> Tensor:
    """Return the (3, 5) matrix that averages the two directions of each filter."""
    rows = [[0.5, 0, 0.5, 0, 0], [0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 1.0]]
    return like.new_tensor(rows)
