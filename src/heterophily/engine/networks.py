"""Which networks are written as lists of steps, and by which function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from torch import nn

from heterophily.engine.attention import write_fagcn, write_gat, write_gat_jk
from heterophily.engine.program import ProgramBuilder
from heterophily.engine.residual import write_residual
from heterophily.models.fagcn import Fagcn
from heterophily.models.gat import Gat
from heterophily.models.jumping_knowledge import GatJk
from heterophily.models.residual import DirectedNetwork, ResidualNetwork

Writer: TypeAlias = Callable[[Any, ProgramBuilder], None]
"""Writes the steps of a network, the logits last; NotCoveredError for an option it does not do."""

PROGRAMS: Mapping[type[nn.Module], Writer] = {
    ResidualNetwork: write_residual,
    DirectedNetwork: write_residual,
    Gat: write_gat,
    GatJk: write_gat_jk,
    Fagcn: write_fagcn,
}
"""The writer of each network. A type stands for itself alone: your subclass runs in torch."""
