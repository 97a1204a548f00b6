"""Residual blocks around any convolution: the strong stack of Platonov et al. (2023)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from heterophily.layers.convolution import Convolution
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs

NORMS: dict[str, Callable[[int], nn.Module]] = {
    "layer": nn.LayerNorm,
    "batch": nn.BatchNorm1d,
    "none": lambda width: nn.Identity(),
}


def _last(states: Sequence[Tensor]) -> Tensor:
    return states[-1]


def _largest(states: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(states)).amax(0)


def _joined(states: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(states), dim=1)


JUMPS: dict[str, Callable[[Sequence[Tensor]], Tensor]] = {
    "last": _last,
    "max": _largest,
    "cat": _joined,
}
"""What the output sees of the states after each block, each (N, H)."""


class FeedForward(nn.Module):
    """Linear map, GELU, dropout, linear map: (N, W) -> (N, H)."""

    def __init__(self, width: int, inner: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = FeatureLinear(width, inner, bias=True).begin_like_torch()
        self.second = FeatureLinear(inner, hidden, bias=True).begin_like_torch()

    def forward(self, state: Tensor) -> Tensor:
        """Map each node by itself."""
        inner = dropout(gelu(self.first(state)), self.dropout, training=self.training)
        output: Tensor = self.second(inner)
        return output


class ResidualBlock(nn.Module):
    r"""One block: :math:`H + \text{Dropout}(\text{FF}(\text{Conv}(\text{Norm}(H))))`."""

    def __init__(
        self, norm: nn.Module, convolution: Convolution, feed_forward: nn.Module, *, dropout: float
    ) -> None:
        super().__init__()
        self.norm, self.convolution, self.feed_forward = norm, convolution, feed_forward
        self.dropout = dropout

    def forward(self, state: Tensor, inputs: GraphInputs, weights: list[Tensor] | None) -> Tensor:
        """Map (N, H) to (N, H)."""
        gathered = inputs.kept(self.convolution(self.norm(state), inputs, weights=weights))
        change = dropout(self.feed_forward(gathered), self.dropout, training=self.training)
        return inputs.kept(state) + change


class Residual(nn.Module):
    r"""Input map, residual blocks, norm and output map.

    .. math:: H^0 = \text{GELU}(\text{Dropout}(X W_0 + b_0)), \quad
              H^l = \text{Block}_l(H^{l-1}), \quad
              \text{logits} = \text{Norm}(\text{Jump}(H^1, .., H^L)) W + b

    Parameters
    ----------
    num_features, hidden, num_classes
        Columns F, H and C.
    make_block
        Builds one block for H columns.
    depth
        Number of blocks L.
    make_norm
        Builds a norm for a number of columns.
    jump
        Key of :data:`JUMPS`: what the output sees of the blocks.
    dropout, input_dropout
        Rates after the input map, and on X.
    """

    def __init__(
        self,
        num_features: int,
        hidden: int,
        num_classes: int,
        make_block: Callable[[], ResidualBlock],
        depth: int,
        make_norm: Callable[[int], nn.Module],
        *,
        jump: str,
        dropout: float,
        input_dropout: float,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout, self.jump = dropout, input_dropout, JUMPS[jump]
        self.input = FeatureLinear(num_features, hidden, bias=True).begin_like_torch()
        self.blocks = nn.ModuleList(make_block() for _ in range(depth))
        seen = hidden * (depth if jump == "cat" else 1)
        self.norm = make_norm(seen)
        self.output = FeatureLinear(seen, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C)."""
        features = drop_features(inputs.features, self.input_dropout, training=self.training)
        state = gelu(dropout(self.input(features), self.dropout, training=self.training))
        states = []
        for place, block in enumerate(self.blocks):
            state = block(state, inputs.at(place), weights)
            states.append(state)
        seen = [each[: state.shape[0]] for each in states]
        logits: Tensor = self.output(self.norm(self.jump(seen)))
        return logits
