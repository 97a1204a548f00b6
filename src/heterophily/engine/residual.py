"""Residual stacks as programs of the native engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from heterophily.engine.attention import attended, signed
from heterophily.engine.operators import direction_name
from heterophily.engine.parameters import NotCoveredError
from heterophily.engine.program import ProgramBuilder
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.channel import Channel
from heterophily.layers.convolution import Convolution
from heterophily.layers.convolutions import (
    Attention,
    ChannelMixing,
    ChannelMixingII,
    EgoAndAttention,
    EgoAndMean,
    SignedAttention,
    Smoothing,
)
from heterophily.layers.directed_convolutions import DirectedEgoAndMean, DirectedSmoothing
from heterophily.layers.directions import Scaling
from heterophily.models.backbones.residual import JUMPS, FeedForward, Residual
from heterophily.models.residual import ResidualNetwork


def write_residual(network: ResidualNetwork, builder: ProgramBuilder) -> None:
    """Write the steps of a residual stack, up to its logits."""
    backbone = network.backbone
    assert isinstance(backbone, Residual)
    entered = builder.features(backbone.input, rate=backbone.input_dropout)
    state = builder.activation("gelu", builder.dropout(entered, backbone.dropout))
    states = []
    blocks: Iterable[Any] = backbone.blocks
    for block in blocks:
        normed = _normed(builder, block.norm, state)
        gathered = _gathered(builder, block.convolution, normed)
        change = fed_forward(builder, block.feed_forward, gathered)
        state = builder.add(state, builder.dropout(change, block.dropout))
        states.append(state)
    seen = _JUMPS[backbone.jump](builder, states)
    builder.linear(_normed(builder, backbone.norm, seen), backbone.output)


def _normed(builder: ProgramBuilder, norm: nn.Module, value: int) -> int:
    write = _NORMS.get(type(norm))
    if write is None:
        raise NotCoveredError(f"{type(norm).__name__} runs in torch")
    return write(builder, value, norm)


def fed_forward(builder: ProgramBuilder, part: nn.Module, value: int) -> int:
    """Write the perceptron of a block."""
    if type(part) is not FeedForward:
        raise NotCoveredError(f"{type(part).__name__} runs in torch")
    inner = builder.activation("gelu", builder.linear(value, part.first))
    return builder.linear(builder.dropout(inner, part.dropout), part.second)


def _gathered(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    write = _CONVOLUTIONS.get(type(convolution))
    if write is None:
        raise NotCoveredError(f"convolution {type(convolution).__name__} runs in torch")
    return write(builder, convolution, value)


def _smoothing(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    return builder.propagate(value)


def _ego_and_mean(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    return builder.concat([value, builder.propagate(value)])


def _directed_smoothing(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    return builder.concat(_both_ways(builder, value, "symmetric", with_loops=True))


def _directed_means(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    return builder.concat([value, *_both_ways(builder, value, "random-walk", with_loops=False)])


def _both_ways(
    builder: ProgramBuilder, value: int, scaling: Scaling, *, with_loops: bool
) -> list[int]:
    names = (direction_name(way, scaling, with_loops=with_loops) for way in ("forward", "backward"))
    return [builder.propagate(value, operator=name) for name in names]


def _attention(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    assert isinstance(convolution, Attention)
    layer = convolution.attention
    return attended(builder, layer, builder.linear(value, layer.linear))


def _ego_and_attention(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    return builder.concat([value, _attention(builder, convolution, value)])


def _signed_attention(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    assert isinstance(convolution, SignedAttention)
    return signed(builder, convolution.layer, value, value)


def _channel_mixing(builder: ProgramBuilder, convolution: Convolution, value: int) -> int:
    assert isinstance(convolution, ChannelMixing)
    return acm_layer(builder, convolution.layer, value)


def acm_layer(builder: ProgramBuilder, layer: AcmLayer, value: int) -> int:
    """Write an ACM layer on the state of a network."""
    if any(channel.hops != 1 for channel in layer.channels):
        raise NotCoveredError("channels of several hops inside a residual block run in torch")
    write = _filtered_last if layer.order == "activate-then-filter" else _filtered_first
    is_structure = [channel.source == "structure" for channel in layer.channels]
    others = iter(() if layer.weight is None else write(builder, layer, layer.weight, value))
    return builder.mix(
        [_structure(builder, layer) if found else next(others) for found in is_structure],
        layer.mixer,
    )


def _structure(builder: ProgramBuilder, layer: AcmLayer) -> int:
    assert layer.structure_weight is not None
    signal = builder.structure(layer.structure_weight)
    return builder.activation("relu", signal) if layer.activate else signal


def _filtered_first(
    builder: ProgramBuilder, layer: AcmLayer, weights: Tensor, value: int
) -> list[int]:
    """Write (Â x) W in place of Â (x W): one propagation serves all channels."""
    aggregated = None
    channels = []
    for number, channel in enumerate(_of_features(layer)):
        found, signal = channel.filter, value
        if (found.identity, found.aggregate) != (1.0, 0.0):
            aggregated = builder.propagate(value) if aggregated is None else aggregated
            signal = aggregated
            if (found.identity, found.aggregate) != (0.0, 1.0):
                signal = builder.add(value, aggregated, found.identity, found.aggregate)
        signal = builder.panel(signal, weights, number)
        channels.append(builder.activation("relu", signal) if layer.activate else signal)
    return channels


def _filtered_last(
    builder: ProgramBuilder, layer: AcmLayer, weights: Tensor, value: int
) -> list[int]:
    channels = []
    for number, channel in enumerate(_of_features(layer)):
        signal = builder.panel(value, weights, number)
        if layer.activate:
            signal = builder.activation("relu", signal)
        found = channel.filter
        if (found.identity, found.aggregate) != (1.0, 0.0):
            signal = builder.propagate(signal, found.identity, found.aggregate)
        channels.append(signal)
    return channels


def _of_features(layer: AcmLayer) -> list[Channel]:
    return [channel for channel in layer.channels if channel.source == "features"]


_CONVOLUTIONS: Mapping[type[Convolution], Callable[[ProgramBuilder, Convolution, int], int]] = {
    Smoothing: _smoothing,
    EgoAndMean: _ego_and_mean,
    DirectedSmoothing: _directed_smoothing,
    DirectedEgoAndMean: _directed_means,
    Attention: _attention,
    EgoAndAttention: _ego_and_attention,
    SignedAttention: _signed_attention,
    ChannelMixing: _channel_mixing,
    ChannelMixingII: _channel_mixing,
}


def _unchanged(builder: ProgramBuilder, value: int, norm: nn.Module) -> int:
    return value


_NORMS: Mapping[type[nn.Module], Callable[[ProgramBuilder, int, Any], int]] = {
    nn.Identity: _unchanged,
    nn.LayerNorm: ProgramBuilder.norm,
    nn.BatchNorm1d: ProgramBuilder.batch_norm,
}


def _last(builder: ProgramBuilder, states: Sequence[int]) -> int:
    return states[-1]


_JUMPS: Mapping[object, Callable[[ProgramBuilder, Sequence[int]], int]] = {
    JUMPS["last"]: _last,
    JUMPS["max"]: ProgramBuilder.maximum,
    JUMPS["cat"]: ProgramBuilder.concat,
}
