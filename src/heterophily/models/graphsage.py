"""GraphSAGE with the mean of the neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from heterophily.layers.channel_linear import Block, channel_products
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class GraphsageOptions(BaselineOptions):
    """Ego and mean of the neighbours, each with its own weight.

    Parameters
    ----------
    depth
        Number of layers.
    use_l2_norm
        Whether hidden rows are divided by their length (Algorithm 1, line 7).
    """

    depth: int = 2
    use_l2_norm: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)


class GraphsageLayer(nn.Module):
    r"""Algorithm 1, line 5: :math:`W [h_v \| \text{mean}_{u \in N(v)} h_u] + b`."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, in_features, out_features))  # ego, neighbours
        self.bias = nn.Parameter(torch.zeros(out_features))
        initialize(self.weight, "glorot")

    def forward(self, features: Block, mean: Propagation) -> Tensor:
        """Map (N, F) to (N, H)."""
        ego, neighbours = channel_products(features, self.weight)
        return ego + mean(neighbours) + self.bias


class Graphsage(nn.Module):
    """Hamilton et al. (2017), Algorithm 1 with the mean aggregator, on all neighbours."""

    card: ClassVar[Card] = Card(
        does="Adds the node itself and the mean of its neighbours, each with its own weight.",
        paper="Hamilton et al. 2017, Inductive Representation Learning, Algorithm 1 (mean)",
        cost="O(nnz(X) H + E H)",
        departs="full batch, neighbours are not sampled; L2 norm is an option, off by default",
        acm="`acm(layer)`",
    )

    def __init__(
        self, options: GraphsageOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        widths = [num_features, *[options.hidden] * (options.depth - 1), num_classes]
        self.layers = nn.ModuleList(GraphsageLayer(*pair) for pair in pairwise(widths))

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        rate, training = self.options.dropout, self.training
        features = drop_features(inputs.features, self.options.input_rate, training=training)
        state: Tensor = self.layers[0](features, inputs.operator)
        for layer in self.layers[1:]:
            state = torch.relu(state)
            if self.options.use_l2_norm:
                state = normalize(state, dim=1)
            state = layer(dropout(state, rate, training=training), inputs.operator)
        return state
