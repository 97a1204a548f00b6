"""Step 1 of ACM, feature extraction: filter and activate all channels of a layer at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from heterophily.filters.filter import Filter
from heterophily.layers.channel import Channel, Order
from heterophily.layers.propagation import Propagation, product
from heterophily.layers.sparse_matrix import SparseMatrix
from heterophily.layers.weighted_edges import WeightedEdges

_Multiply = Callable[[Sequence[Tensor]], Sequence[Tensor]]


def extract(
    signals: Sequence[Tensor],
    channels: Sequence[Channel],
    operator: Propagation | WeightedEdges,
    *,
    order: Order = "filter-then-activate",
    activate: bool = True,
) -> tuple[Tensor, ...]:
    r"""Filter the signals of K channels, each (N, H), and apply ReLU.

    Section 4.2, step 1, with :math:`P_k = H^{l-1} W_k` and the channel's filter :math:`F_k`:

    .. math:: \text{ACM: } H_k = \text{ReLU}(F_k P_k), \qquad
              \text{ACMII: } H_k = F_k\, \text{ReLU}(P_k)

    Only channels whose filter aggregates are multiplied by Â; the high pass is a difference,
    never a matrix. The gradient is written out: one multiplication by the transpose each.

    >>> from heterophily.layers.channel import resolve_channels
    >>> import scipy.sparse as sp
    >>> swap = Propagation.from_scipy(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> signal = torch.tensor([[3.0], [1.0]])
    >>> low, high = extract([signal, signal], resolve_channels(["low", "high"]), swap)
    >>> low.flatten().tolist(), high.flatten().tolist()
    ([1.0, 3.0], [2.0, 0.0])
    """
    if isinstance(operator, WeightedEdges):
        return _plain(signals, channels, operator, order, activate)
    if torch.is_grad_enabled() and any(signal.requires_grad for signal in signals):
        outputs: tuple[Tensor, ...] = _Extraction.apply(  # type: ignore[no-untyped-call]
            channels, operator, order, activate, *signals
        )
        return outputs
    return _forward(signals, channels, operator, order, activate)[0]


def _plain(
    signals: Sequence[Tensor],
    channels: Sequence[Channel],
    operator: WeightedEdges,
    order: Order,
    activate: bool,
) -> tuple[Tensor, ...]:
    """Do the same with operations that PyTorch differentiates, in the operator too."""
    outputs = []
    for signal, channel in zip(signals, channels, strict=True):
        is_first = activate and order == "activate-then-filter"
        start = torch.relu(signal) if is_first else signal
        found = filter_signal(start, [channel], operator)[0]
        outputs.append(torch.relu(found) if activate and not is_first else found)
    return tuple(outputs)


def filter_signal(
    signal: Tensor, channels: Sequence[Channel], operator: Propagation | WeightedEdges
) -> list[Tensor]:
    """Return every channel's filter of one signal (N, H); Â is applied once for all of them."""
    hops = [channel.hops if channel.filter.aggregate else 0 for channel in channels]
    moved = [signal]
    for _ in range(max(hops)):
        moved.append(operator(moved[-1]))
    return [
        combined(channel.filter, signal, moved[count])
        for channel, count in zip(channels, hops, strict=True)
    ]


def _forward(
    signals: Sequence[Tensor],
    channels: Sequence[Channel],
    operator: Propagation,
    order: Order,
    activate: bool,
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the outputs, and what their ReLUs returned (for the backward pass)."""
    if not activate:
        return tuple(_filtered(signals, channels, operator.forward_all)), ()
    if order == "activate-then-filter":
        activated = tuple(torch.relu(signal) for signal in signals)
        return tuple(_filtered(activated, channels, operator.forward_all)), activated
    filtered = _filtered(signals, channels, operator.forward_all)
    outputs = tuple(
        torch.relu(after) if after is before else torch.relu_(after)
        for before, after in zip(signals, filtered, strict=True)
    )
    return outputs, outputs


def _filtered(
    signals: Sequence[Tensor],
    channels: Sequence[Channel],
    multiply: _Multiply,
    *,
    reuse: bool = True,
) -> list[Tensor]:
    """Apply every channel's filter; ``multiply`` is Â or its transpose."""
    moved = list(signals)
    for hop in range(1, max(channel.hops for channel in channels) + 1):
        members = [
            place
            for place, channel in enumerate(channels)
            if channel.filter.aggregate != 0 and channel.hops >= hop
        ]
        if not members:
            break
        products = multiply([moved[place] for place in members])
        for place, found in zip(members, products, strict=True):
            moved[place] = found
    return [
        combined(channel.filter, before, after, reuse=reuse)
        for channel, before, after in zip(channels, signals, moved, strict=True)
    ]


def _transposed(matrix: SparseMatrix, signals: Sequence[Tensor]) -> list[Tensor]:
    """Multiply signals by the transpose so that the products can be differentiated."""
    return [product(signal, matrix, is_transposed=True) for signal in signals]


def combined(filter: Filter, signal: Tensor, aggregated: Tensor, *, reuse: bool = False) -> Tensor:
    """Return ``identity * signal + aggregate * aggregated``, without needless arithmetic.

    ``reuse`` allows writing into ``aggregated``: fresh memory costs more than the arithmetic.
    """
    if filter.aggregate == 0:
        return signal if filter.identity == 1 else filter.identity * signal
    if filter.identity == 0:
        return aggregated if filter.aggregate == 1 else filter.aggregate * aggregated
    scaled = signal if filter.identity == 1 else filter.identity * signal
    if reuse:
        return torch.add(scaled, aggregated, alpha=filter.aggregate, out=aggregated)
    return torch.add(scaled, aggregated, alpha=filter.aggregate)


class _Extraction(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        channels: Sequence[Channel],
        operator: Propagation,
        order: Order,
        activate: bool,
        *signals: Tensor,
    ) -> tuple[Tensor, ...]:
        outputs, activated = _forward(signals, channels, operator, order, activate)
        ctx.channels, ctx.operator, ctx.order = channels, operator, order
        ctx.save_for_backward(*activated)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        activated = ctx.saved_tensors
        if activated and ctx.order == "filter-then-activate":
            gradients = _through_relu(gradients, activated)
        inner: Sequence[Tensor]
        if torch.is_grad_enabled():  # create_graph=True: this pass is differentiated again
            multiply = partial(_transposed, ctx.operator.matrix)
            inner = _filtered(gradients, ctx.channels, multiply, reuse=False)
        else:
            inner = _filtered(gradients, ctx.channels, ctx.operator.backward_all)
        if activated and ctx.order == "activate-then-filter":
            inner = _through_relu(inner, activated)
        return (None, None, None, None, *inner)


def _through_relu(gradients: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return the gradients before a ReLU, given its outputs."""
    pairs = zip(gradients, outputs, strict=True)
    return tuple(
        torch.ops.aten.threshold_backward(gradient, output, 0) for gradient, output in pairs
    )
