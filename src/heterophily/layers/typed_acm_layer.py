"""The ACM layer on typed edges: low and high pass of every type, mixed node by node."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.adjacency_input import Operator
from heterophily.layers.channel import Order, check_order, resolve_channels
from heterophily.layers.channel_linear import LayerInput, channel_products
from heterophily.layers.extraction import extract
from heterophily.layers.initialization import Initialization, initialize

_PASSES = resolve_channels(("low", "high"))
_IDENTITY = resolve_channels(("identity",))


def typed_channels(types: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the channels: two of each type, and the identity.

    >>> typed_channels(["cites", "same-venue"])
    ('low:cites', 'high:cites', 'low:same-venue', 'high:same-venue', 'identity')
    >>> typed_channels([])
    ('low', 'high', 'identity')
    """
    if not types:
        return ("low", "high", "identity")
    return (*(f"{name}:{kind}" for kind in types for name in ("low", "high")), "identity")


class TypedAcmLayer(nn.Module):
    r"""One layer on R types of edges: 2R + 1 channels, mixed by the mixer it is given.

    With :math:`\hat A_r` the normalised matrix of type r (a node without an edge of this type has
    its own loop alone, so that its low pass is the identity and its high pass is 0):

    .. math:: H_{L,r} = \text{ReLU}(\hat A_r H W_{L,r}), \quad
              H_{H,r} = \text{ReLU}((I - \hat A_r) H W_{H,r}), \quad
              H_I = \text{ReLU}(H W_I)

    and steps 2 and 3 of section 4.2 on all of them. With one type it is
    :class:`~heterophily.layers.acm_layer.AcmLayer` of the paper's channels, to the last bit.

    Parameters
    ----------
    in_features, out_features
        Columns of the input and of the output.
    num_types
        Number of types R.
    mixer
        Turns 2R + 1 tensors (N, H) into one.
    order, activate, initialization
        As for ``AcmLayer``.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        num_types: int,
        mixer: nn.Module,
        *,
        order: Order = "filter-then-activate",
        activate: bool = True,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        check_order(order)
        self.num_types, self.order, self.activate = num_types, order, activate
        self.weight = nn.Parameter(torch.empty(2 * num_types + 1, in_features, out_features))
        initialize(self.weight, initialization)
        self.mixer = mixer

    @property
    def is_nonnegative(self) -> bool:
        """Whether no output can be negative, so that a ReLU after the layer would do nothing."""
        ends_in_relu = self.activate and self.order == "filter-then-activate"
        return ends_in_relu and bool(getattr(self.mixer, "keeps_sign", False))

    def forward(
        self,
        source: LayerInput,
        operators: Sequence[Operator],
        structure: Operator | None = None,
        *,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Map node features (N, F) to (N, H), with Â of each type."""
        if len(operators) != self.num_types:
            raise InputError(
                f"the layer was made for {self.num_types} types of edges and got {len(operators)}"
            )
        signals = channel_products(source, self.weight)
        channels: list[Tensor] = []
        for place, operator in enumerate(operators):
            is_last = place + 1 == self.num_types
            stop = 2 * place + (3 if is_last else 2)
            channels += extract(
                signals[2 * place : stop],
                (*_PASSES, *_IDENTITY) if is_last else _PASSES,
                operator,
                order=self.order,
                activate=self.activate,
            )
        mixture: Tensor = self.mixer(channels, weights)
        return mixture
