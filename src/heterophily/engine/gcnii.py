"""GCNII, GCNII* and their ACM forms as programs of the native engine."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from heterophily.engine.parameters import NotCoveredError
from heterophily.engine.program import ProgramBuilder
from heterophily.layers.channel import Channel
from heterophily.layers.gcnii_layer import GcniiLayer
from heterophily.layers.sum_mixer import SumMixer
from heterophily.models.backbones.gcnii import Gcnii
from heterophily.models.networks import GcniiNetwork


def write_gcnii(network: GcniiNetwork, builder: ProgramBuilder) -> None:
    """Write the input map, the layers, which all see the initial state, and the output map."""
    backbone = network.backbone
    assert isinstance(backbone, Gcnii)
    entered = builder.features(backbone.input, rate=backbone.input_dropout)
    initial = builder.activation("relu", entered)
    state = builder.dropout(initial, backbone.dropout)
    for layer in backbone.layers:
        if type(layer) is not GcniiLayer:
            raise NotCoveredError(f"layer {type(layer).__name__} runs in torch")
        output = _layer(builder, layer, state, initial)
        if not getattr(layer.mixer, "keeps_sign", False):
            output = builder.activation("relu", output)
        state = builder.dropout(output, backbone.dropout)
    logits = builder.linear(state, backbone.output)
    if backbone.output_relu:
        builder.activation("relu", logits)


def _layer(builder: ProgramBuilder, layer: GcniiLayer, state: int, initial: int) -> int:
    outputs = []
    for place, filtered in enumerate(_filtered(builder, layer.channels, state)):
        share = layer.alpha
        if layer.initial_weight is None:
            joined = builder.add(filtered, initial, 1.0 - share, share)
            output = _mapped(builder, layer, joined, layer.weight, place)
        else:
            from_state = _mapped(builder, layer, filtered, layer.weight, place)
            from_initial = _mapped(builder, layer, initial, layer.initial_weight, place)
            output = builder.add(from_state, from_initial, 1.0 - share, share)
        outputs.append(builder.activation("relu", output))
    if len(outputs) == 1 and type(layer.mixer) is SumMixer:
        return outputs[0]
    return builder.mix(outputs, layer.mixer)


def _filtered(builder: ProgramBuilder, channels: Sequence[Channel], state: int) -> list[int]:
    """Write every channel's filter of the state; Â is applied once for all of them."""
    hops = [channel.hops if channel.filter.aggregate else 0 for channel in channels]
    moved = [state]
    for _ in range(max(hops)):
        moved.append(builder.propagate(moved[-1]))
    found = []
    for channel, count in zip(channels, hops, strict=True):
        identity, aggregate = channel.filter.identity, channel.filter.aggregate
        alone = {(1.0, 0.0): state, (0.0, 1.0): moved[count]}.get((identity, aggregate))
        found.append(
            builder.add(state, moved[count], identity, aggregate) if alone is None else alone
        )
    return found


def _mapped(
    builder: ProgramBuilder, layer: GcniiLayer, value: int, weights: Tensor, place: int
) -> int:
    """Write x ((1 - β) I + β W_k)."""
    mapped = builder.panel(value, weights, place)
    return builder.add(value, mapped, 1.0 - layer.beta, layer.beta)
