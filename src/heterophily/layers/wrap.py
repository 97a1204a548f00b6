"""``acm(MyLayer)``: the three-channel twin of any layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.adjacency_input import Adjacency, AdjacencyCache
from heterophily.layers.channel import PAPER_CHANNELS, Channel, Order, check_order, resolve_channels
from heterophily.layers.extraction import extract, filter_signal


class AcmWrapped(nn.Module):
    r"""K copies of a layer, one for each channel, with filters and adaptive mixing around them.

    .. math:: \text{ACM: } H_k = \text{ReLU}(\text{layer}_k(F_k X)), \qquad
              \text{ACMII: } H_k = F_k\, \text{ReLU}(\text{layer}_k(X))

    Made by :func:`acm`.
    """

    def __init__(
        self,
        layers: Sequence[nn.Module],
        mixer: nn.Module,
        *,
        channels: Sequence[str | Channel] = PAPER_CHANNELS,
        order: Order = "filter-then-activate",
        normalization: Literal["random-walk", "symmetric"] = "random-walk",
        renormalize: bool = True,
    ) -> None:
        super().__init__()
        check_order(order)
        self.channels, self.order = resolve_channels(channels), order
        if any(channel.source == "structure" for channel in self.channels):
            raise InputError("acm(layer) filters the layer's input; it has no structure channel")
        self.layers, self.mixer = nn.ModuleList(layers), mixer
        self._cache = AdjacencyCache(normalization=normalization, renormalize=renormalize)

    def forward(
        self,
        x: Tensor,
        adjacency: Adjacency,
        *args: Any,
        weights: list[Tensor] | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Map (N, F) to (N, H).

        ``adjacency`` makes the filters, in any form that ``AcmConv`` takes; further arguments go
        to the layers after their input. ``weights``, if given, receives alpha (N, K).
        """
        operator, _ = self._cache.prepare(adjacency, x)
        if self.order == "filter-then-activate":
            filtered = filter_signal(x, self.channels, operator)
            pairs = zip(self.layers, filtered, strict=True)
            outputs = [torch.relu(layer(part, *args, **kwargs)) for layer, part in pairs]
        else:
            signals = [layer(x, *args, **kwargs) for layer in self.layers]
            outputs = list(extract(signals, self.channels, operator, order=self.order))
        mixture: Tensor = self.mixer(outputs, weights)
        return mixture


def acm(
    layer: Callable[..., nn.Module],
    *,
    channels: Sequence[str | Channel] = PAPER_CHANNELS,
    order: Order = "filter-then-activate",
    normalization: Literal["random-walk", "symmetric"] = "random-walk",
    renormalize: bool = True,
    **mixing: Any,
) -> Callable[..., AcmWrapped]:
    """Put three channels (low pass, high pass, identity) around any layer class or factory.

    The layer maps node features to node features: ``layer(x, ...) -> (N, H)``. The result is
    called like the class; each channel gets a layer of its own. The twin is then called as
    ``twin(x, adjacency, ...)``, where everything after ``adjacency`` goes to the layers.

    Parameters
    ----------
    layer
        Class or factory; called once for each channel.
    channels, order, normalization, renormalize
        As in :class:`~heterophily.layers.acm_conv.AcmConv`.
    mixing
        Options of :class:`~heterophily.layers.adaptive_mixer.AdaptiveMixer`, such as
        ``use_layer_norm=True``.

    Examples
    --------
    >>> twin = acm(nn.Linear)(3, 2, bias=False)
    >>> twin(torch.eye(3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])

    The width H is read from the layer (``out_channels`` times its heads, or ``out_features``);
    for another layer name it: ``acm(MyLayer)(..., acm_width=64)``.
    """

    def build(*args: Any, acm_width: int | None = None, **kwargs: Any) -> AcmWrapped:
        layers = [layer(*args, **kwargs) for _ in resolve_channels(channels)]
        width = _width(layers[0]) if acm_width is None else acm_width
        return AcmWrapped(
            layers,
            AdaptiveMixer(width, len(layers), **mixing),
            channels=channels,
            order=order,
            normalization=normalization,
            renormalize=renormalize,
        )

    return build


def _width(layer: nn.Module) -> int:
    """Return the number of columns that a layer gives."""
    for name in ("out_channels", "out_features"):
        width = getattr(layer, name, None)
        if isinstance(width, int):
            joins_heads = bool(getattr(layer, "concat", False))
            return width * int(getattr(layer, "heads", 1)) if joins_heads else width
    raise InputError(
        f"the width of {type(layer).__name__} is not known (no out_channels or out_features); "
        "pass acm_width=, the number of columns that it gives"
    )
