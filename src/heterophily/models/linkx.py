"""LINKX: the adjacency and the features, each through its own map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import FeatureMlp
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class LinkxOptions(BaselineOptions):
    """Separate maps of A and X.

    Parameters
    ----------
    depth
        Layers of the last perceptron (batch norm after each hidden one).
    feature_depth
        Layers of the perceptron on X.
    input_dropout
        0 by default, as in the released program.
    """

    depth: int = 2
    feature_depth: int = 1
    input_dropout: float | None = 0.0

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("feature_depth", self.feature_depth)


class Linkx(nn.Module):
    r"""Lim et al. (2021), section 4.

    .. math:: h_A = A W_A + b_A, \qquad h_X = \text{MLP}_X(X), \qquad
              \text{logits} = \text{MLP}_f(\text{ReLU}(W [h_A \| h_X] + h_A + h_X))
    """

    card: ClassVar[Card] = Card(
        does=(
            "Two separate networks, one on features and one on the rows of the adjacency "
            "matrix (which neighbours a node has), then a joint one."
        ),
        paper="Lim et al. 2021, Large Scale Learning on Non-Homophilous Graphs, section 4",
        cost="O(nnz(X) H + E H + N H²)",
        departs="full batch; MLP_A has one layer",
    )

    def __init__(
        self, options: LinkxOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        width = options.hidden
        self.structure_weight = nn.Parameter(torch.empty(num_nodes, width))  # W_A
        self.structure_bias = nn.Parameter(torch.zeros(width))
        initialize(self.structure_weight, "glorot")
        self.features = FeatureMlp(
            [num_features, *[width] * options.feature_depth],
            dropout=options.dropout,
            input_dropout=options.input_rate,
            use_batch_norm=True,
        )
        self.join_structure = FeatureLinear(width, width, bias=True, initialization="glorot")
        self.join_features = FeatureLinear(width, width, bias=True, initialization="glorot")
        self.output = FeatureMlp(
            [width, *[width] * (options.depth - 1), num_classes],
            dropout=options.dropout,
            use_batch_norm=True,
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        assert inputs.structure is not None
        from_structure = inputs.structure(self.structure_weight) + self.structure_bias
        from_features = self.features(inputs.features)
        joined = self.join_structure(from_structure) + self.join_features(from_features)
        logits: Tensor = self.output(torch.relu(joined + from_structure + from_features))
        return logits
