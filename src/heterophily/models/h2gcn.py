"""H2GCN: ego, neighbours and two-hop neighbours kept apart; all rounds joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.neighbourhoods import exact_hops
from heterophily.models.baseline import BaselineOptions, Card


@dataclass(frozen=True, kw_only=True)
class H2gcnOptions(BaselineOptions):
    """Separate embeddings.

    Parameters
    ----------
    depth
        Rounds of aggregation (1 or 2: the width grows by a factor of 2 in each).
    input_dropout
        0 by default: the paper drops only before the classifier.
    """

    depth: int = 1
    input_dropout: float | None = 0.0

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        if self.depth not in (1, 2, 3):
            raise InputError(f"depth={self.depth}; H2GCN has 1, 2 or 3 rounds")


class H2gcn(nn.Module):
    r"""Zhu et al. (2020), section 3.2, steps S1 to S3.

    With :math:`\bar A_i` the symmetrically normalised adjacency of nodes at distance exactly i:

    .. math:: r^{(0)} = \text{ReLU}(X W_e), \qquad
              r^{(k)} = [\bar A_1 r^{(k-1)} \| \bar A_2 r^{(k-1)}], \qquad
              \text{logits} = [r^{(0)} \| .. \| r^{(K)}] W_c

    No node enters its own neighbourhood (D1), two hops are seen (D2), all rounds stay (D3); the
    rounds have no weight and no nonlinearity.
    """

    card: ClassVar[Card] = Card(
        does=(
            "Keeps the node, its neighbours and its neighbours at distance two apart, and "
            "joins all of them at the end."
        ),
        paper="Zhu et al. 2020, Beyond Homophily in GNNs, section 3.2, steps S1-S3",
        cost="O(nnz(X) H + (E + E₂) H 2^K), E₂ pairs at distance two",
    )

    def __init__(
        self, options: H2gcnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        self.input = FeatureLinear(num_features, options.hidden, initialization="glorot")
        columns = options.hidden * (2 ** (options.depth + 1) - 1)
        self.output = FeatureLinear(columns, num_classes, initialization="glorot")

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        options = self.options
        features = drop_features(inputs.features, options.input_rate, training=self.training)
        rounds = self.rounds(torch.relu(self.input(features)), inputs)
        joined = dropout(torch.cat(rounds, dim=1), options.dropout, training=self.training)
        logits: Tensor = self.output(joined)
        return logits

    def rounds(self, ego: Tensor, inputs: GraphInputs) -> list[Tensor]:
        """Return :math:`r^{(0)}, .., r^{(K)}`."""
        assert inputs.structure is not None
        one_hop, two_hops = exact_hops(inputs.structure)
        found = [ego]
        for _ in range(self.options.depth):
            found.append(torch.cat([one_hop(found[-1]), two_hops(found[-1])], dim=1))
        return found
