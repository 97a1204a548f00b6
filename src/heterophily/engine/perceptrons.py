"""Perceptrons inside programs of the native engine, and powers of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heterophily.engine.program import ProgramBuilder
from heterophily.layers.feature_mlp import FeatureMlp


def mlp_of_features(builder: ProgramBuilder, mlp: FeatureMlp) -> int:
    """Write a perceptron on X."""
    first: Any = mlp.maps[0]
    return _rest(builder, mlp, builder.features(first, rate=mlp.input_dropout))


def mlp_of_state(builder: ProgramBuilder, mlp: FeatureMlp, value: int) -> int:
    """Write a perceptron on a value."""
    first: Any = mlp.maps[0]
    return _rest(builder, mlp, builder.linear(builder.dropout(value, mlp.input_dropout), first))


def _rest(builder: ProgramBuilder, mlp: FeatureMlp, value: int) -> int:
    maps: Sequence[Any] = list(mlp.maps)
    norms: Sequence[Any] = list(mlp.norms)
    for place, linear in enumerate(maps[1:]):
        value = builder.activation("relu", value)
        if norms:
            value = builder.batch_norm(value, norms[place])
        value = builder.linear(builder.dropout(value, mlp.dropout), linear)
    return value


def powers_of(
    builder: ProgramBuilder, value: int, width: int, powers: Sequence[int], operator: str = ""
) -> list[int]:
    """Return Â^j of the panels of a value, (N, width) each, with a rising list of powers j.

    One product serves all panels that are not finished, so the largest power counts.
    """
    found: list[int] = []
    rest = list(powers)
    for step in range(powers[-1] + 1):
        if step:
            value = builder.propagate(value, operator=operator)
        if rest[0] == step:
            found.append(builder.columns(value, 0, width))
            rest = rest[1:]
            if rest:
                value = builder.columns(value, width, width * len(rest))
    return found
