"""Which networks are written as lists of steps, and by which function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from torch import nn

from heterophily.engine.acm_sign import write_acm_sign
from heterophily.engine.attention import write_fagcn, write_gat, write_gat_jk
from heterophily.engine.gcnii import write_gcnii
from heterophily.engine.glognn import write_glognn
from heterophily.engine.neighbourhoods import (
    write_gcn_jk,
    write_graphsage,
    write_h2gcn,
    write_mixhop,
)
from heterophily.engine.ordered_gnn import write_ordered_gnn
from heterophily.engine.polynomials import write_appnp, write_bernnet, write_gprgnn
from heterophily.engine.program import ProgramBuilder
from heterophily.engine.residual import write_residual
from heterophily.engine.separate_maps import write_fsgnn, write_linkx
from heterophily.models.acm_sign import AcmSign
from heterophily.models.appnp import Appnp
from heterophily.models.bernnet import Bernnet
from heterophily.models.fagcn import Fagcn
from heterophily.models.fsgnn import Fsgnn
from heterophily.models.gat import Gat
from heterophily.models.glognn import Glognn
from heterophily.models.gprgnn import Gprgnn
from heterophily.models.graphsage import Graphsage
from heterophily.models.h2gcn import H2gcn
from heterophily.models.jumping_knowledge import GatJk, GcnJk
from heterophily.models.linkx import Linkx
from heterophily.models.mixhop import Mixhop
from heterophily.models.networks import GcniiNetwork
from heterophily.models.ordered_gnn import OrderedGnn
from heterophily.models.residual import DirectedNetwork, ResidualNetwork

Writer: TypeAlias = Callable[[Any, ProgramBuilder], None]
"""Writes the steps of a network, the logits last; NotCoveredError for an option it does not do."""

PROGRAMS: Mapping[type[nn.Module], Writer] = {
    AcmSign: write_acm_sign,
    Appnp: write_appnp,
    Bernnet: write_bernnet,
    DirectedNetwork: write_residual,
    Fagcn: write_fagcn,
    Fsgnn: write_fsgnn,
    Gat: write_gat,
    GatJk: write_gat_jk,
    GcniiNetwork: write_gcnii,
    GcnJk: write_gcn_jk,
    Glognn: write_glognn,
    Gprgnn: write_gprgnn,
    Graphsage: write_graphsage,
    H2gcn: write_h2gcn,
    Linkx: write_linkx,
    Mixhop: write_mixhop,
    OrderedGnn: write_ordered_gnn,
    ResidualNetwork: write_residual,
}
"""The writer of each network. A type stands for itself alone: your subclass runs in torch."""
