"""Geom-GCN: neighbours on the graph and in a plane, each direction with its own weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block, channel_products
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.geometric_relations import DEGREES, GROUPS
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_choice, check_count


@dataclass(frozen=True, kw_only=True)
class GeomGcnOptions(BaselineOptions):
    """Geometric aggregation.

    Parameters
    ----------
    hidden
        Columns of each of the nine groups of neighbours.
    depth
        Number of layers.
    degrees
        What d counts: ``"graph"``, a node's neighbours on the graph (the paper: "the degree of node
        v in the graph"); ``"both"``, its neighbours on the graph or in the plane (the program).
    """

    hidden: int = 16
    depth: int = 2
    degrees: Literal["graph", "both"] = "graph"

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_choice("degrees", self.degrees, tuple(DEGREES))


class GeomGcnLayer(nn.Module):
    r"""Bi-level aggregation: a sum within each group, then all groups side by side.

    .. math:: e_v^{(i,r)} = \sum_{u \in N_i(v),\, \tau(v,u) = r} (d_v d_u)^{-1/2} W_{i,r} h_u
    """

    def __init__(self, in_features: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(GROUPS, in_features, width))
        initialize(self.weight, "glorot")

    def forward(self, features: Block, operators: tuple[Propagation, ...]) -> Tensor:
        """Map (N, F) to (N, 9, H)."""
        products = channel_products(features, self.weight)
        groups = [operator(part) for operator, part in zip(operators, products, strict=True)]
        return torch.stack(groups, dim=1)


class GeomGcn(nn.Module):
    """Pei et al. (2020), section 3: hidden layers join the groups, the last one averages them."""

    card: ClassVar[Card] = Card(
        does=(
            "Places the nodes in a plane and aggregates edge neighbours and near nodes, each "
            "grouped by direction in the plane."
        ),
        paper="Pei et al. 2020, Geom-GCN, section 3 (Geom-GCN-I: Isomap)",
        cost="O(nnz(X) H + E H); once per graph O(N + E) for the plane",
        departs="Isomap on 100 landmarks, so that no N x N matrix of distances is needed; the "
        "radius keeps the number of pairs at that of the edges; degrees as in the program are an "
        "option (`degrees`)",
    )

    def __init__(
        self, options: GeomGcnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        seen = [num_features, *[options.hidden * GROUPS] * (options.depth - 1)]
        widths = [*[options.hidden] * (options.depth - 1), num_classes]
        self.layers = nn.ModuleList(
            GeomGcnLayer(before, after) for before, after in zip(seen, widths, strict=True)
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        assert inputs.structure is not None
        operators = DEGREES[self.options.degrees](inputs.structure)
        rate, training = self.options.dropout, self.training
        features = drop_features(inputs.features, self.options.input_rate, training=training)
        groups: Tensor = self.layers[0](features, operators)
        for layer in self.layers[1:]:
            state = dropout(torch.relu(groups.flatten(1)), rate, training=training)
            groups = layer(state, operators)
        return groups.mean(1)
