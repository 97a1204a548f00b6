"""Networks with attention as programs of the native engine."""

from __future__ import annotations

from torch import nn

from heterophily.engine.neighbourhoods import JUMP_STEPS
from heterophily.engine.program import ProgramBuilder
from heterophily.layers.fagcn_layer import FagcnLayer
from heterophily.layers.gat_layer import GatLayer
from heterophily.models.fagcn import Fagcn
from heterophily.models.gat import Gat
from heterophily.models.jumping_knowledge import GatJk


def attended(builder: ProgramBuilder, layer: GatLayer, value: int) -> int:
    """Write GAT's layer after its linear map: weights, sums over neighbours, bias."""
    scores = builder.scores(value, layer.receiver, layer.sender, heads=layer.heads)
    found = builder.attention(
        value,
        scores,
        heads=layer.heads,
        rate=layer.attention_dropout,
        negative_slope=layer.negative_slope,
    )
    if not layer.joins_heads and layer.heads > 1:
        found = builder.average(found, heads=layer.heads)
    return builder.bias(found, layer.bias)


def signed(builder: ProgramBuilder, layer: FagcnLayer, value: int, initial: int) -> int:
    """Write FAGCN's layer."""
    scores = builder.scores(value, layer.receiver, layer.sender, heads=1)
    found = builder.signed_sum(value, scores, rate=layer.rate)
    return builder.add(initial, found, layer.epsilon, 1.0)


def write_gat(network: Gat, builder: ProgramBuilder) -> None:
    """Write attention layers with ELU between them."""
    layers: list[GatLayer] = list(network.layers)  # type: ignore[arg-type]
    state = attended(
        builder, layers[0], builder.features(layers[0].linear, rate=network.input_dropout)
    )
    for layer in layers[1:]:
        state = builder.dropout(builder.activation("elu", state), network.dropout)
        state = attended(builder, layer, builder.linear(state, layer.linear))


def write_gat_jk(network: GatJk, builder: ProgramBuilder) -> None:
    """Write attention layers that the classifier sees all."""
    layers: list[GatLayer] = list(network.layers)  # type: ignore[arg-type]
    norms: list[nn.BatchNorm1d] = list(network.norms)  # type: ignore[arg-type]
    states: list[int] = []
    state = 0
    for place, layer in enumerate(layers):
        found = (
            builder.linear(state, layer.linear)
            if place
            else builder.features(layer.linear, rate=network.input_dropout)
        )
        found = attended(builder, layer, found)
        if not network.has_norms:
            state = builder.dropout(builder.activation("elu", found), network.dropout)
            states.append(state)
            continue
        if place < len(norms):
            found = builder.activation("elu", builder.batch_norm(found, norms[place]))
            state = builder.dropout(found, network.dropout)
        states.append(found)
    builder.linear(JUMP_STEPS[network.jump](builder, states), network.output)


def write_fagcn(network: Fagcn, builder: ProgramBuilder) -> None:
    """Write a map in, layers that mix frequencies, a map out."""
    entered = builder.features(network.input, rate=network.input_dropout)
    initial = builder.dropout(builder.activation("relu", entered), network.dropout)
    state = initial
    for layer in network.layers:
        assert isinstance(layer, FagcnLayer)
        state = signed(builder, layer, state, initial)
    builder.linear(state, network.output)
