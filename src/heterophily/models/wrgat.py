"""WRGAT: attention on a computation graph of structural and proximity relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.errors import lookup
from heterophily.layers.channel_linear import Block, channel_products
from heterophily.layers.derived import derived
from heterophily.layers.dropout import dropout
from heterophily.layers.edges import edges_of
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.layers.relation_attention import relation_attention
from heterophily.layers.structural_relations import RELATIONS, structural_operators
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class WrgatOptions(BaselineOptions):
    """Weighted relational attention.

    Parameters
    ----------
    depth
        Number of layers.
    messages
        What happens to the weighted messages of a relation: ``"mean"`` as in the released program,
        so that a node hears itself however many nodes play its role, or ``"sum"``.
    """

    depth: int = 2
    messages: Literal["mean", "sum"] = "mean"

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        lookup(dict.fromkeys(("mean", "sum")), "way to join messages", self.messages)


@derived
def _averaging(relation: Propagation) -> Tensor:
    """Return p / n of every edge, (E, 1): its likeness over the number of its receiver's edges."""
    edges = edges_of(relation)
    return (edges.values / edges.matrix.indptr.diff()[edges.rows]).unsqueeze(1)


class WrgatLayer(nn.Module):
    r"""Attention within each relation r, weighted by the structural likeness p of the ends.

    .. math:: h'_i = W_0 h_i + b
              + \sum_r \frac{1}{n_r} \sum_{j \in N_r(i)} p^r_{ij} \alpha^r_{ij} W_r h_j, \qquad
              \alpha^r_{ij} = \text{softmax}_j\, \text{LeakyReLU}(a_r^T [W_r h_i \| W_r h_j])

    with :math:`n_r` = 1 for sums, and the number of neighbours for means.
    """

    def __init__(self, in_features: int, width: int, *, averages: bool) -> None:
        super().__init__()
        self.averages = averages
        self.weight = nn.Parameter(torch.empty(1 + RELATIONS, in_features, width))  # W_0, W_r
        self.receiver = nn.Parameter(torch.empty(RELATIONS, width, 1))
        self.sender = nn.Parameter(torch.empty(RELATIONS, width, 1))
        self.bias = nn.Parameter(torch.zeros(width))
        for parameter in (self.weight, self.receiver, self.sender):
            initialize(parameter, "glorot")

    def forward(self, features: Block, relations: tuple[Propagation, ...]) -> Tensor:
        """Map (N, F) to (N, H)."""
        own, *mapped = channel_products(features, self.weight)
        output = own + self.bias
        for place, (relation, hidden) in enumerate(zip(relations, mapped, strict=True)):
            edges = edges_of(relation)
            output = output + relation_attention(
                hidden,
                hidden @ self.receiver[place],
                hidden @ self.sender[place],
                _averaging(relation) if self.averages else edges.values.unsqueeze(1),
                edges,
            )
        return output


class Wrgat(nn.Module):
    """Suresh et al. (2021): layers with ReLU on the computation graph."""

    card: ClassVar[Card] = Card(
        does=(
            "Adds new edges between nodes with similar surroundings, then applies attention to "
            "each kind of edge."
        ),
        paper="Suresh et al. 2021, Breaking the Limit of GNNs by Improving Assortativity, WRGAT",
        cost="O(nnz(X) H + (E + N log N) H); once per graph O(E₂ + N log N), E₂ pairs at distance "
        "two",
        departs="rings are compared by quantiles of their degrees, not by dynamic time warping; "
        "messages of a relation are averaged, as in the released program (`messages`)",
    )

    def __init__(
        self, options: WrgatOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        seen = [num_features, *[options.hidden] * (options.depth - 1)]
        self.layers = nn.ModuleList(
            WrgatLayer(before, after, averages=options.messages == "mean")
            for before, after in zip(seen, [*seen[1:], num_classes], strict=True)
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        assert inputs.structure is not None
        relations = structural_operators(inputs.structure)
        rate, training = self.options.dropout, self.training
        features = drop_features(inputs.features, self.options.input_rate, training=training)
        state: Tensor = self.layers[0](features, relations)
        for layer in self.layers[1:]:
            state = layer(dropout(torch.relu(state), rate, training=training), relations)
        return state
