"""GloGNN as a program of the native engine."""

from __future__ import annotations

from heterophily.engine.parameters import NotCoveredError
from heterophily.engine.program import ProgramBuilder
from heterophily.models.glognn import Glognn


def write_glognn(network: Glognn, builder: ProgramBuilder) -> None:
    r"""Write the initial state and the layers.

    With D = H - γ H0, r = 1 - γ, c = α + β and K = (c I + r² Hᵀ H)⁻¹ a layer is
    ``r Z H + γ H0 = H - c D K + r β Σ λ_k Â^k H K``, because r² Hᵀ H K = I - c K.
    """
    options = network.options
    if network.importance is not None:
        raise NotCoveredError("GloGNN++ runs in torch")
    if options.normalize_structure:
        raise NotCoveredError("Â W_A (normalize_structure) runs in torch")
    mapped = builder.features(network.features, rate=options.input_rate)
    adjacency = builder.structure(network.structure_weight)
    joined = builder.add(adjacency, mapped, 1.0 - options.delta, options.delta)
    hidden = builder.dropout(builder.activation("relu", joined), options.dropout)
    initial = state = builder.linear(hidden, network.output)
    width, scale, rest = builder.width(initial), options.alpha + options.beta, 1.0 - options.gamma
    for _ in range(options.depth):
        change = builder.add(state, initial, 1.0, -options.gamma)
        solved = builder.solve(builder.concat([change, state]), scale, rest**2)
        powers = [builder.propagate(builder.columns(solved, width, width))]
        for _ in network.hop_weights[1:]:
            powers.append(builder.propagate(powers[-1]))
        local = builder.combine(powers, network.hop_weights)
        state = builder.add(state, builder.columns(solved, 0, width), 1.0, -scale)
        state = builder.add(state, local, 1.0, rest * options.beta)
