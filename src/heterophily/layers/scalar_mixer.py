"""One weight for each channel, the same for all nodes: the filterbank that ACM is compared with."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class ScalarMixer(nn.Module):
    r"""Mix K channels with K learned numbers, shared by all nodes: K tensors (N, H) -> (N, H).

    .. math:: H = \text{scale} \cdot \sum_k w_k H_k

    The traditional adaptive filterbank of the paper's first contribution. The weights begin at 1/K,
    so that the first mixture is that of an undecided
    :class:`~heterophily.layers.adaptive_mixer.AdaptiveMixer`; they may become negative.

    >>> ScalarMixer(2)([torch.ones(1, 2), 3 * torch.ones(1, 2)]).tolist()
    [[2.0, 2.0]]
    """

    keeps_sign = False  # a learned weight may be negative

    def __init__(self, num_channels: int, *, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = float(scale)
        self.shares = nn.Parameter(torch.full((num_channels,), 1.0 / num_channels))

    def forward(self, channels: Sequence[Tensor], weights: list[Tensor] | None = None) -> Tensor:
        """Return the mixture; append the weights, (N, K), equal rows, to ``weights`` if given."""
        shares = self.shares * self.scale
        total = channels[0] * shares[0]
        for channel, share in zip(channels[1:], shares[1:], strict=True):
            total = torch.addcmul(total, channel, share)
        if weights is not None:
            weights.append(self.shares.expand(len(channels[0]), -1))
        return total
