"""LINKX and FSGNN, which map A and X, or each power, by themselves, as programs of the engine."""

from __future__ import annotations

from heterophily.engine.operators import direction_name
from heterophily.engine.perceptrons import mlp_of_features, mlp_of_state, powers_of
from heterophily.engine.program import ProgramBuilder
from heterophily.models.fsgnn import Fsgnn
from heterophily.models.linkx import Linkx

LOOPLESS = direction_name("forward", "symmetric", with_loops=False)


def write_linkx(network: Linkx, builder: ProgramBuilder) -> None:
    """Write the maps of A and X, their joint map and the last perceptron."""
    from_structure = builder.bias(
        builder.structure(network.structure_weight), network.structure_bias
    )
    from_features = mlp_of_features(builder, network.features)
    mapped = builder.add(
        builder.linear(from_structure, network.join_structure),
        builder.linear(from_features, network.join_features),
    )
    total = builder.add(builder.add(mapped, from_structure), from_features)
    mlp_of_state(builder, network.output, builder.activation("relu", total))


def write_fsgnn(network: Fsgnn, builder: ProgramBuilder) -> None:
    """Write X and its powers with and without loops, each with its share."""
    options = network.options
    width, hops = options.hidden, range(1, options.hops + 1)
    mapped = builder.features_of_stack(network.weight, rate=options.input_rate)
    own, loopless, looped = (
        builder.columns(mapped, first * width, count * width)
        for first, count in ((0, 1), (1, options.hops), (1 + options.hops, options.hops))
    )
    blocks = [
        own,
        *powers_of(builder, loopless, width, hops, LOOPLESS),
        *powers_of(builder, looped, width, hops),
    ]
    shown = [builder.bias(block, network.bias, place * width) for place, block in enumerate(blocks)]
    if options.use_l2_norm:
        shown = [builder.unit(block) for block in shown]
    state = builder.activation("relu", builder.join(shown, network.scores, form="softmax"))
    builder.linear(builder.dropout(state, options.dropout), network.output)
