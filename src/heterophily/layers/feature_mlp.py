"""A multi-layer perceptron on dense or sparse node features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.initialization import Initialization
from heterophily.layers.sparse_features import SparseFeatures


def drop_features(features: Block, rate: float, *, training: bool) -> Block:
    """Apply dropout to dense or sparse features."""
    if isinstance(features, SparseFeatures):
        return features.dropout(rate, training=training)
    return dropout(features, rate, training=training)


class FeatureMlp(nn.Module):
    """Linear maps of the given widths: dropout, map, ReLU, dropout, map, ..., map.

    With ``use_batch_norm`` a batch norm follows each ReLU. The last map has neither.

    >>> FeatureMlp([3, 4, 2], dropout=0.0)(torch.eye(3)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        widths: Sequence[int],
        *,
        dropout: float,
        input_dropout: float = 0.0,
        use_batch_norm: bool = False,
        initialization: Initialization = "glorot",
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = dropout, input_dropout
        self.maps = nn.ModuleList(
            FeatureLinear(before, after, bias=True, initialization=initialization)
            for before, after in pairwise(widths)
        )
        norms = [nn.BatchNorm1d(width) for width in widths[1:-1]] if use_batch_norm else []
        self.norms = nn.ModuleList(norms)

    def forward(self, features: Block) -> Tensor:
        """Map (N, F) to (N, H)."""
        state = drop_features(features, self.input_dropout, training=self.training)
        output: Tensor = self.maps[0](state)
        for place, linear in enumerate(self.maps[1:]):
            output = torch.relu(output)
            if self.norms:
                output = self.norms[place](output)
            output = linear(dropout(output, self.dropout, training=self.training))
        return output
