"""The GCNII layer, for one channel or several."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.channel import PAPER_CHANNELS, Channel, resolve_channels
from heterophily.layers.extraction import filter_signal
from heterophily.layers.initialization import Initialization, initialize
from heterophily.layers.propagation import Propagation


class GcniiLayer(nn.Module):
    r"""GCNII or GCNII* with its operator Â replaced by each channel's filter F_k, then mixed.

    From the appendix "Details of the Implementation", with :math:`M_k = (1-\beta) I + \beta W_k`:

    .. math::
        \text{GCNII: } H_k &= \text{ReLU}\big(((1-\alpha) F_k H + \alpha H^{(0)}) M_k\big) \\
        \text{GCNII*: } H_k &= \text{ReLU}\big((1-\alpha) F_k H\, M^1_k
        + \alpha H^{(0)} M^2_k\big)

    With the low-pass channel alone this is the published layer. All channels share one product
    ``Â H``. The paper's tables have ACM-GCNII but its code was never released; this follows the
    formulas.
    """

    def __init__(
        self,
        width: int,
        mixer: nn.Module,
        *,
        alpha: float,
        beta: float,
        is_star: bool = False,
        channels: Sequence[str | Channel] = PAPER_CHANNELS,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        self.channels = resolve_channels(channels)
        for channel in self.channels:
            if channel.source != "features":
                raise InputError("a GCNII layer has no structure channel")
        self.alpha, self.beta, self.initialization = alpha, beta, initialization
        count = len(self.channels)
        self.weight = nn.Parameter(torch.empty(count, width, width))
        self.initial_weight = nn.Parameter(torch.empty(count, width, width)) if is_star else None
        self.mixer = mixer
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        initialize(self.weight, self.initialization)
        if self.initial_weight is not None:
            initialize(self.initial_weight, self.initialization)

    def forward(
        self,
        state: Tensor,
        initial: Tensor,
        operator: Propagation,
        *,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Map the state (N, H) and the initial state (N, H) to the next state (N, H)."""
        outputs = []
        for place, filtered in enumerate(filter_signal(state, self.channels, operator)):
            if self.initial_weight is None:
                joined = torch.lerp(filtered, initial, self.alpha)
                output = self._mapped(joined, self.weight[place])
            else:
                output = self._mapped((1.0 - self.alpha) * filtered, self.weight[place])
                output = output + self._mapped(self.alpha * initial, self.initial_weight[place])
            outputs.append(torch.relu(output))
        mixture: Tensor = self.mixer(outputs, weights)
        return mixture

    def _mapped(self, signal: Tensor, weight: Tensor) -> Tensor:
        """Return ``signal ((1 - beta) I + beta W)``."""
        return torch.addmm(signal, signal, weight, beta=1.0 - self.beta, alpha=self.beta)
