"""FSGNN: features of every hop, with and without loops, chosen by a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from heterophily.layers.channel_linear import channel_products
from heterophily.layers.directions import directions_of
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class FsgnnOptions(BaselineOptions):
    """Feature selection.

    Parameters
    ----------
    hops
        Powers K of the adjacency, so that there are 2K + 1 blocks of features.
    use_l2_norm
        Whether the rows of each mapped block are divided by their length ("hop-normalisation").
    """

    input_dropout: float | None = 0.0
    hops: int = 3
    use_l2_norm: bool = True

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("hops", self.hops)


class Fsgnn(nn.Module):
    r"""Maurya et al. (2022), section 4.

    .. math:: H_k = \text{norm}(B_k X W_k + b_k), \qquad
              \text{logits} = \text{ReLU}(\|_k\, \alpha_k H_k)\, W + b, \qquad
              \alpha = \text{softmax}(s)

    with the operators :math:`B = I, A, \tilde A, A^2, \tilde A^2, ..`, symmetric, without and with
    loops.
    """

    card: ClassVar[Card] = Card(
        does="Averages over 0 to K steps as separate inputs, each with a learned weight.",
        paper="Maurya et al. 2022, Simplifying Approach to Node Classification in GNNs, section 4",
        cost="O(K nnz(X) H + K² E H)",
        departs="maps before it propagates (same function), so that no (N, F) matrix per hop is "
        "stored",
    )

    def __init__(
        self, options: FsgnnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        blocks = 2 * options.hops + 1
        self.weight = nn.Parameter(torch.empty(blocks, num_features, options.hidden))
        self.bias = nn.Parameter(torch.zeros(blocks, options.hidden))
        self.scores = nn.Parameter(torch.ones(blocks))
        self.output = FeatureLinear(
            blocks * options.hidden, num_classes, bias=True, initialization="glorot"
        )
        initialize(self.weight, "glorot")

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        options = self.options
        features = drop_features(inputs.features, options.input_rate, training=self.training)
        own, *mapped = channel_products(features, self.weight)
        loopless = directions_of(inputs, "symmetric", with_loops=False).forward
        blocks = [
            own,
            *_powers(loopless, mapped[: options.hops]),
            *_powers(inputs.operator, mapped[options.hops :]),
        ]
        shares = self.scores.softmax(0)
        chosen = []
        for block, bias, share in zip(blocks, self.bias, shares, strict=True):
            shifted = block + bias
            chosen.append(share * (normalize(shifted, dim=1) if options.use_l2_norm else shifted))
        state = torch.relu(torch.cat(chosen, dim=1))
        logits: Tensor = self.output(dropout(state, options.dropout, training=self.training))
        return logits


def _powers(operator: Propagation, signals: list[Tensor]) -> list[Tensor]:
    """Apply the operator once to the first signal, twice to the second, and so on."""
    found = []
    while signals:
        widths = [signal.shape[1] for signal in signals]
        first, *signals = torch.split(operator(torch.cat(signals, dim=1)), widths, dim=1)
        found.append(first)
    return found
