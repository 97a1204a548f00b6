"""The plain sum of the channels: the ablation without adaptive mixing (Table 1)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn


class SumMixer(nn.Module):
    """Add the channels up, all with the same weight: K tensors (N, H) -> (N, H).

    With one channel this is the channel itself, so that a uni-channel layer is a layer of one
    channel with this mixer.

    >>> import torch
    >>> SumMixer()([torch.ones(1, 2), torch.ones(1, 2)])
    tensor([[2., 2.]])
    """

    keeps_sign = True  # channels that are not negative give a sum that is not negative

    def forward(self, channels: Sequence[Tensor], weights: list[Tensor] | None = None) -> Tensor:
        """Return the sum; there are no mixing weights to collect."""
        total = channels[0]
        for channel in channels[1:]:
            total = total + channel
        return total
