"""The Adaptive Channel Mixing layer, and with one channel the layer of a uni-channel network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.adjacency_input import Operator
from heterophily.layers.channel import PAPER_CHANNELS, Channel, Order, check_order, resolve_channels
from heterophily.layers.channel_linear import LayerInput, channel_products
from heterophily.layers.extraction import extract
from heterophily.layers.initialization import Initialization, initialize


class AcmLayer(nn.Module):
    r"""One layer: K channels extracted from the input, mixed by the mixer it is given.

    Step 1 of section 4.2 (see :func:`~heterophily.layers.extraction.extract`), then the mixer.
    The ReLU outside the mixture belongs to the network, because the logits have none.

    Parameters
    ----------
    in_features, out_features
        Columns of the input and of the output.
    mixer
        Turns K tensors (N, H) into one: ``AdaptiveMixer`` or ``SumMixer``.
    channels
        Names out of ``low``, ``high``, ``identity``, ``structure``, or own ``Channel`` values.
    order
        ``"filter-then-activate"`` (ACM) or ``"activate-then-filter"`` (ACMII).
    activate
        Whether channels pass a ReLU; SGC has none.
    num_nodes
        Number of nodes N; needed by the structure channel, whose weight W_A is (N, H).
    initialization
        See :func:`~heterophily.layers.initialization.initialize`.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        mixer: nn.Module,
        *,
        channels: Sequence[str | Channel] = PAPER_CHANNELS,
        order: Order = "filter-then-activate",
        activate: bool = True,
        num_nodes: int | None = None,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        check_order(order)
        self.channels = resolve_channels(channels)
        self.order, self.activate, self.initialization = order, activate, initialization
        is_structure = [channel.source == "structure" for channel in self.channels]
        count = is_structure.count(False)
        self.weight = nn.Parameter(torch.empty(count, in_features, out_features)) if count else None
        self.structure_weight = None
        if any(is_structure):
            if num_nodes is None:
                raise InputError("the structure channel needs num_nodes, the number of nodes")
            self.structure_weight = nn.Parameter(torch.empty(num_nodes, out_features))
        self.mixer = mixer
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        if self.weight is not None:
            initialize(self.weight, self.initialization)
        if self.structure_weight is not None:
            initialize(self.structure_weight, self.initialization)

    @property
    def is_nonnegative(self) -> bool:
        """Whether no output can be negative, so that a ReLU after the layer would do nothing."""
        ends_in_relu = self.activate and self.order == "filter-then-activate"
        return ends_in_relu and bool(getattr(self.mixer, "keeps_sign", False))

    def forward(
        self,
        source: LayerInput,
        operator: Operator,
        structure: Operator | None = None,
        *,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Map node features (N, F) to (N, H).

        ``operator`` is Â and ``structure`` A itself; ``weights``, if given, receives the mixing
        weights alpha (N, K).
        """
        signals = iter(() if self.weight is None else channel_products(source, self.weight))
        extracted = extract(
            [
                self._structure_signal(structure)
                if channel.source == "structure"
                else next(signals)
                for channel in self.channels
            ],
            self.channels,
            operator,
            order=self.order,
            activate=self.activate,
        )
        mixture: Tensor = self.mixer(extracted, weights)
        return mixture

    def _structure_signal(self, structure: Operator | None) -> Tensor:
        if structure is None or self.structure_weight is None:
            raise InputError(
                "the structure channel needs A itself; prepare the graph with "
                "InputOptions(with_structure=True)"
            )
        return structure(self.structure_weight)

    def extra_repr(self) -> str:
        """Return the channels and the order."""
        return f"channels={self.channels}, order={self.order!r}, activate={self.activate}"
