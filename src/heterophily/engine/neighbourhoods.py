"""GCN+JK, MixHop, GraphSAGE and H2GCN as programs of the native engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heterophily.engine.perceptrons import powers_of
from heterophily.engine.program import ProgramBuilder
from heterophily.models.graphsage import Graphsage
from heterophily.models.h2gcn import H2gcn
from heterophily.models.jumping_knowledge import JUMPS, GcnJk
from heterophily.models.mixhop import Mixhop

JUMP_STEPS: Mapping[Any, Callable[[ProgramBuilder, Sequence[int]], int]] = {
    JUMPS["max"]: ProgramBuilder.maximum,
    JUMPS["cat"]: ProgramBuilder.concat,
}
"""What the classifier sees of the layers' outputs."""


def write_gcn_jk(network: GcnJk, builder: ProgramBuilder) -> None:
    """Write GCN+JK; from the second layer on as (Â H) W, which is shorter."""
    shown: list[int] = []
    state = -1
    layers: Iterable[Any] = network.layers
    norms: Sequence[Any] = list(network.norms)
    for place, layer in enumerate(layers):
        if place == 0:
            signal = builder.features(layer, rate=network.input_dropout, with_bias=False)
            output = builder.bias(builder.propagate(signal), layer.bias)
        else:
            output = builder.linear(builder.propagate(state), layer)
        if network.has_norms and place < len(norms):
            output = builder.batch_norm(output, norms[place])
        if not network.has_norms or place < len(norms):
            output = builder.activation("relu", output)
            state = builder.dropout(output, network.dropout)
        shown.append(output if network.has_norms else state)
    builder.linear(JUMP_STEPS[network.jump](builder, shown), network.output)


def write_mixhop(network: Mixhop, builder: ProgramBuilder) -> None:
    """Write MixHop: the panels of a layer side by side."""
    layers: Sequence[Any] = list(network.layers)
    norms: Sequence[Any] = list(network.norms)
    parts: list[int] = []
    for place, layer in enumerate(layers):
        if place == 0:
            panels = builder.features_of_stack(layer.weight, rate=network.input_dropout)
        else:
            joined = builder.bias(builder.concat(parts), layers[place - 1].bias)
            if norms:
                joined = builder.batch_norm(joined, norms[place - 1])
            state = builder.dropout(builder.activation("relu", joined), network.dropout)
            panels = builder.linear_of_stack(state, layer.weight)
        parts = powers_of(builder, panels, layer.weight.shape[2], layer.powers)
    last = layers[-1]
    if network.output is not None:
        builder.linear(builder.bias(builder.concat(parts), last.bias), network.output)
        return
    width = last.weight.shape[2]
    groups = [builder.bias(part, last.bias, number * width) for number, part in enumerate(parts)]
    assert network.group_scores is not None
    builder.combine(groups, network.group_scores, form="softmax")


def write_graphsage(network: Graphsage, builder: ProgramBuilder) -> None:
    """Write GraphSAGE: the maps of ego and neighbours side by side."""
    options = network.options
    state = -1
    layers: Iterable[Any] = network.layers
    for place, layer in enumerate(layers):
        if place == 0:
            panels = builder.features_of_stack(layer.weight, rate=options.input_rate)
        else:
            state = builder.activation("relu", state)
            state = builder.unit(state) if options.use_l2_norm else state
            panels = builder.linear_of_stack(builder.dropout(state, options.dropout), layer.weight)
        width = layer.weight.shape[2]
        ego, neighbours = (builder.columns(panels, first, width) for first in (0, width))
        state = builder.bias(builder.add(ego, builder.propagate(neighbours)), layer.bias)


def write_h2gcn(network: H2gcn, builder: ProgramBuilder) -> None:
    """Write H2GCN: neighbours at distance one and two, all rounds joined."""
    options = network.options
    ego = builder.features(network.input, rate=options.input_rate)
    rounds = [builder.activation("relu", ego)]
    for _ in range(options.depth):
        hops = [builder.propagate(rounds[-1], operator=name) for name in ("one-hop", "two-hops")]
        rounds.append(builder.concat(hops))
    builder.linear(builder.dropout(builder.concat(rounds), options.dropout), network.output)
