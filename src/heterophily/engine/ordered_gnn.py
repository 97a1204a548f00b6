"""OrderedGNN as a program of the native engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heterophily.engine.program import ProgramBuilder
from heterophily.models.ordered_gnn import OrderedGnn


def write_ordered_gnn(network: OrderedGnn, builder: ProgramBuilder) -> None:
    """Write layers whose gates grow, each a blend of the state and the mean of the neighbours."""
    options = network.options
    norms: Sequence[Any] = list(network.norms)
    maps: Sequence[Any] = list(network.gate_maps)
    entered = builder.features(network.input, rate=options.input_rate)
    state = builder.norm(builder.activation("relu", entered), network.input_norm)
    gates: list[int] = []
    for place, norm in enumerate(norms):
        state = builder.dropout(state, options.dropout)
        message = builder.propagate(state)
        scores = builder.linear(builder.concat([state, message]), maps[place % len(maps)])
        gates.append(builder.gate(scores, *gates[-1:]))
        state = builder.norm(builder.blend(gates[-1], state, message), norm)
    builder.linear(builder.dropout(state, options.dropout), network.output)
