"""A linear map of dense or sparse features, with an optional bias."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block
from heterophily.layers.initialization import Initialization, draw_uniform, initialize


class FeatureLinear(nn.Module):
    """``X W`` or ``X W + b`` for features (N, F), weight (F, H) and bias (H,), begun at zero.

    >>> FeatureLinear(3, 2, bias=True)(torch.eye(3)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        bias: bool = False,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        self.initialization = initialization
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.empty(out_features)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw a new weight."""
        initialize(self.weight, self.initialization)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def begin_like_torch(self) -> FeatureLinear:
        r"""Draw weight and bias from :math:`\pm 1 / \sqrt{F}`, as ``torch.nn.Linear`` begins.

        For models whose first steps depend on a bias that is not zero.
        """
        bound = 1.0 / math.sqrt(max(1, self.weight.shape[0]))
        for parameter in self.parameters():
            draw_uniform(parameter, bound)
        return self

    def forward(self, features: Block) -> Tensor:
        """Return the mapped features, (N, H)."""
        product = features @ self.weight
        return product if self.bias is None else product + self.bias
