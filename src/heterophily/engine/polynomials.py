"""Polynomials of an operator after a perceptron, as programs of the native engine."""

from __future__ import annotations

from heterophily.engine.parameters import NotCoveredError
from heterophily.engine.perceptrons import mlp_of_features
from heterophily.engine.program import ProgramBuilder
from heterophily.models.appnp import Appnp
from heterophily.models.bernnet import Bernnet, bernstein_to_chebyshev
from heterophily.models.gprgnn import Gprgnn


def write_gprgnn(network: Gprgnn, builder: ProgramBuilder) -> None:
    """Write GPR-GNN: all powers, then their sum with γ."""
    powers = [builder.dropout(mlp_of_features(builder, network.mlp), network.rate)]
    for _ in network.gamma[1:]:
        powers.append(builder.propagate(powers[-1]))
    builder.combine(powers, network.gamma, has_own_rates=True)


def write_bernnet(network: Bernnet, builder: ProgramBuilder) -> None:
    """Write BernNet: Chebyshev polynomials of I - L, then their sum with M ReLU(θ)."""
    signal = builder.dropout(mlp_of_features(builder, network.mlp), network.rate)
    found = [signal, builder.propagate(signal)]
    for _ in network.theta[2:]:
        found.append(builder.add(builder.propagate(found[-1], 0.0, 2.0), found[-2], 1.0, -1.0))
    table = bernstein_to_chebyshev(network.theta.numel() - 1)
    builder.combine(found, network.theta, form="relu", table=table, has_own_rates=True)


def write_appnp(network: Appnp, builder: ProgramBuilder) -> None:
    """Write APPNP: (1 - α) Â z + α h in each step."""
    if network.options.edge_dropout:
        raise NotCoveredError("dropout on Â runs in torch")
    state = prediction = mlp_of_features(builder, network.mlp)
    alpha = network.options.alpha
    for _ in range(network.options.hops):
        state = builder.add(builder.propagate(state, 0.0, 1.0 - alpha), prediction, 1.0, alpha)
