"""ACM-SIGN as a program of the native engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from heterophily.engine.operators import direction_name
from heterophily.engine.program import ProgramBuilder
from heterophily.engine.residual import fed_forward
from heterophily.models.acm_sign import AcmSign


def write_acm_sign(network: AcmSign, builder: ProgramBuilder) -> None:
    """Write the channels of all hops, their mixture and the blocks after it."""
    net = network.backbone
    options = net.options
    width, pairs = options.hidden, 2 * options.hops
    mapped = builder.features_of_stack(net.weight, rate=options.input_rate)
    signals = [builder.columns(mapped, 0, width)]
    operators = [""]
    if options.directions == "both":
        operators = [
            direction_name(way, "random-walk", with_loops=True) for way in ("forward", "backward")
        ]
    for place, operator in enumerate(operators):
        own = builder.columns(mapped, (1 + place * pairs) * width, pairs * width)
        signals += _channels(builder, own, width, options.hops, operator)
    norms: Sequence[Any] = list(net.norms)
    channels = []
    for place, (signal, norm) in enumerate(zip(signals, norms, strict=True)):
        normed = builder.norm(builder.bias(signal, net.bias, place * width), norm)
        channels.append(builder.dropout(builder.activation("gelu", normed), options.dropout))
    state = builder.mix(channels, net.mixer)
    blocks: Iterable[Any] = zip(net.block_norms, net.blocks, strict=True)
    for norm, block in blocks:
        change = fed_forward(builder, block, builder.norm(state, norm))
        state = builder.add(state, builder.dropout(change, options.dropout))
    builder.linear(builder.norm(state, net.norm), net.output)


def _channels(
    builder: ProgramBuilder, value: int, width: int, hops: int, operator: str
) -> list[int]:
    """Write low and high pass of each power: the pair k of panels is filtered k times."""
    found = []
    for left in range(hops - 1, -1, -1):
        moved = builder.propagate(value, operator=operator)
        before, after = (builder.columns(each, width, width) for each in (value, moved))
        found += [builder.columns(moved, 0, width), builder.add(before, after, 1.0, -1.0)]
        value = builder.columns(moved, 2 * width, 2 * left * width) if left else moved
    return found
