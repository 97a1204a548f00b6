"""Steps 2 and 3 of ACM: weights of the channels for each node, and the mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from heterophily.errors import InputError
from heterophily.layers.initialization import Initialization, initialize
from heterophily.layers.mixing import MixRaw, mix, mix_plainly, weights_from_scores
from heterophily.layers.traced import is_traced

MixFeatures = Literal["raw", "combined"]
MIX_FEATURES: tuple[MixFeatures, ...] = ("raw", "combined")


class AdaptiveMixer(nn.Module):
    r"""Mix K channels with weights learned for each node (section 4.2, steps 2 and 3).

    .. math::
        \tilde\alpha_k = \text{Sigmoid}(H_k \tilde W_k), \quad
        [\alpha_1, .., \alpha_K] = \text{Softmax}\big(([\tilde\alpha_1, .., \tilde\alpha_K] / T)\,
        W_\text{Mix}\big), \quad
        H = \text{scale} \cdot \textstyle\sum_k \text{diag}(\alpha_k) H_k

    Parameters
    ----------
    width
        Columns H of each channel.
    num_channels
        Number of channels K.
    use_mix_weight
        Whether :math:`W_\text{Mix}` (K, K) is learned, or left out (appendix, "Ablation Study of
        W_mix").
    features
        ``"raw"``: channel k's score sees :math:`H_k`, with :math:`\tilde W_k` (H, 1);
        ``"combined"``: it sees :math:`[H_1, .., H_K]`, with :math:`\tilde W_k` (KH, 1) (appendix,
        "Raw Features v.s. Combined Features").
    use_layer_norm
        Whether each channel passes its own layer norm (learned gain and shift, as
        ``torch.nn.LayerNorm``) on the way to its score: ACM-GCN+ and ++. The mixture itself uses
        :math:`H_k`. One copy of the released code never runs it: ``use_layer_norm=False``.
    temperature
        T; by default the number of channels, as in the paper.
    scale
        1 in the paper. The released code multiplies the mixture of three channels by 3 and that
        of four by 1.
    """

    def __init__(
        self,
        width: int,
        num_channels: int,
        *,
        use_mix_weight: bool = True,
        features: MixFeatures = "raw",
        use_layer_norm: bool = False,
        temperature: float | None = None,
        scale: float = 1.0,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        if features not in MIX_FEATURES:
            raise InputError(f"features={features!r}; choose {' or '.join(MIX_FEATURES)}")
        if temperature is not None and not temperature > 0:
            raise InputError(f"temperature={temperature}; it must be above 0")
        self.temperature = float(num_channels) if temperature is None else float(temperature)
        self.scale = float(scale)
        self.features = features
        self.initialization = initialization
        columns = num_channels if features == "combined" else 1
        self.vectors = nn.Parameter(torch.empty(num_channels, width, columns))
        self.mix_weight = (
            nn.Parameter(torch.empty(num_channels, num_channels)) if use_mix_weight else None
        )
        self.norm_gain = nn.Parameter(torch.empty(num_channels, width)) if use_layer_norm else None
        self.norm_shift = nn.Parameter(torch.empty(num_channels, width)) if use_layer_norm else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new parameters: by default vectors in (-1, 1), W_Mix in (-1, 1) / sqrt(K)."""
        for score in range(
            self.vectors.shape[2]
        ):  # each score has vectors of one column, whatever it sees
            initialize(self.vectors.data[:, :, score : score + 1], self.initialization)
        if self.mix_weight is not None:
            initialize(self.mix_weight, self.initialization)
        if self.norm_gain is not None and self.norm_shift is not None:
            nn.init.ones_(self.norm_gain)
            nn.init.zeros_(self.norm_shift)

    @property
    def keeps_sign(self) -> bool:
        """Whether channels that are not negative give a mixture that is not negative."""
        return self.scale >= 0.0

    def forward(self, channels: Sequence[Tensor], weights: list[Tensor] | None = None) -> Tensor:
        """Return the mixture of K channels, (N, H); append alpha (N, K) to ``weights`` if given."""
        if self.features == "raw":
            mixing: Any = mix_plainly if is_traced(channels[0]) else MixRaw.apply
            mixture, alpha = mixing(
                self.temperature,
                self.scale,
                self.vectors.squeeze(2),
                self.mix_weight,
                self.norm_gain,
                self.norm_shift,
                *channels,
            )
        else:
            scores = self._combined_scores(channels)
            _, alpha = weights_from_scores(scores, self.mix_weight, self.temperature)
            mixture = mix(channels, alpha * self.scale)
        if weights is not None:
            weights.append(alpha.t())
        result: Tensor = mixture
        return result

    def _combined_scores(self, channels: Sequence[Tensor]) -> Tensor:
        """Return the inputs of the sigmoids, (K, N), when each score sees all channels."""
        seen: Sequence[Tensor] = channels
        if self.norm_gain is not None and self.norm_shift is not None:
            width = (channels[0].shape[1],)
            norms = zip(channels, self.norm_gain, self.norm_shift, strict=True)
            seen = [layer_norm(channel, width, gain, shift) for channel, gain, shift in norms]
        parts = [channel @ vector for channel, vector in zip(seen, self.vectors, strict=True)]
        return torch.stack(parts).sum(dim=0).t()
