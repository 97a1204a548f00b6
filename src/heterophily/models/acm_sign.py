"""ACM-SIGN: channels of several hops computed once, mixed node by node, then a deep node-wise
network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.channel_linear import Block, channel_products
from heterophily.layers.directions import directions_of
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.backbones.residual import FeedForward
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.networks import NodeClassifier
from heterophily.models.options import check_choice, check_count

DIRECTIONS = ("forward", "both")


@dataclass(frozen=True, kw_only=True)
class AcmSignOptions(BaselineOptions):
    """Mixed channels of several hops.

    Parameters
    ----------
    hops
        Powers K of Â: there are 2K + 1 channels, ``own``, ``low-1``, ``high-1``, ..., ``high-K``.
    depth
        Residual blocks after the mixture.
    expansion
        Inner columns of a block as a multiple of ``hidden``.
    directions
        ``"forward"``: along the edges as given; ``"both"``: the same channels against them too.
    """

    hidden: int = 64
    dropout: float = 0.3
    input_dropout: float | None = 0.0
    hops: int = 2
    depth: int = 2
    expansion: int = 1
    directions: str = "forward"

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        for name in ("hops", "depth", "expansion"):
            check_count(name, getattr(self, name))
        check_choice("directions", self.directions, DIRECTIONS)

    @property
    def layer_channels(self) -> tuple[str, ...]:
        """The channels that are mixed, named as in :mod:`heterophily.channels.recipe`."""
        along = [f"{kind}-{hop}" for hop in range(1, self.hops + 1) for kind in ("low", "high")]
        against = [f"reverse-{name}" for name in along] if self.directions == "both" else []
        return ("own", *along, *against)


class _Mixed(nn.Module):
    """Map every channel, mix them for each node, and pass the mixture through residual blocks."""

    def __init__(self, options: AcmSignOptions, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.options, hidden = options, options.hidden
        count = len(options.layer_channels)
        self.weight = nn.Parameter(torch.empty(count, num_features, hidden))
        self.bias = nn.Parameter(torch.zeros(count, hidden))
        initialize(self.weight, "glorot")
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(count))
        self.mixer = AdaptiveMixer(hidden, count, initialization="glorot")
        self.block_norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(options.depth))
        self.blocks = nn.ModuleList(
            FeedForward(hidden, options.expansion * hidden, hidden, dropout=options.dropout)
            for _ in range(options.depth)
        )
        self.norm = nn.LayerNorm(hidden)
        self.output = FeatureLinear(hidden, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C); features are mapped before they are filtered."""
        options = self.options
        features = drop_features(inputs.features, options.input_rate, training=self.training)
        own, *mapped = channel_products(features, self.weight)
        operators = [inputs.operator]
        if options.directions == "both":
            found = directions_of(inputs, "random-walk", with_loops=True)
            operators = [found.forward, found.backward]
        signals = [own]
        for place, operator in enumerate(operators):
            signals += _channels(operator, mapped[place * 2 * options.hops :][: 2 * options.hops])
        return self._mixed(signals, weights)

    def on_rows(self, blocks: Mapping[str, Block], weights: list[Tensor] | None) -> Tensor:
        """Return the logits (n, C) of some nodes from their channels, (n, F) each."""
        rate, training = self.options.input_rate, self.training
        signals = [
            drop_features(blocks[name], rate, training=training) @ weight
            for name, weight in zip(self.options.layer_channels, self.weight, strict=True)
        ]
        return self._mixed(signals, weights)

    def _mixed(self, signals: Sequence[Tensor], weights: list[Tensor] | None) -> Tensor:
        rate, training = self.options.dropout, self.training
        parts = zip(signals, self.bias, self.norms, strict=True)
        channels = [
            dropout(gelu(norm(signal + bias)), rate, training=training)
            for signal, bias, norm in parts
        ]
        state: Tensor = self.mixer(channels, weights)
        for norm, block in zip(self.block_norms, self.blocks, strict=True):
            state = state + dropout(block(norm(state)), rate, training=training)
        logits: Tensor = self.output(self.norm(state))
        return logits


def _channels(operator: Propagation, mapped: Sequence[Tensor]) -> list[Tensor]:
    """Return low and high pass of each power: the pair k of signals is filtered k times."""
    found: list[Tensor] = []
    waiting = list(mapped)
    while waiting:
        widths = [signal.shape[1] for signal in waiting]
        moved = torch.split(operator(torch.cat(waiting, dim=1)), widths, dim=1)
        found += [moved[0], waiting[1] - moved[1]]
        waiting = list(moved[2:])
    return found


class AcmSign(NodeClassifier):
    r"""Channels as in ACM, powers as in SIGN: the graph is needed once, before the training.

    .. math:: H_c = \text{GELU}(\text{Norm}(B_c X W_c + b_c)), \quad
              H = \textstyle\sum_c \text{diag}(\alpha_c) H_c, \quad
              \text{logits} = \text{Norm}(\text{Blocks}(H)) W + b

    with the operators :math:`B = I, \hat A^k, (I - \hat A) \hat A^{k-1}` for k = 1 .. K, and
    :math:`\alpha` as in ACM.
    """

    card: ClassVar[Card] = Card(
        does=(
            "Computes powers of ACM's channels once, before the training; then learns which of "
            "them each node uses. For huge graphs; `dir-` also keeps the two directions of "
            "edges apart."
        ),
        paper="Luan et al. 2022, Revisiting Heterophily for GNNs, section 4 (channels, mixing); "
        "Frasca et al. 2020, SIGN (powers computed once)",
        cost="O(K nnz(X) H + K² E H); with channels computed once O(K N F H) and no edges",
        acm="is one",
        departs="ours",
    )
    backbone: _Mixed

    def __init__(
        self, options: AcmSignOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.backbone = _Mixed(options, num_features, num_classes)

    @property
    def row_channels(self) -> tuple[str, ...]:
        """The channels through which single nodes are seen."""
        return self.backbone.options.layer_channels

    def on_rows(
        self, blocks: Mapping[str, Block], *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the logits (n, C) of some nodes from their channels."""
        return self.backbone.on_rows(blocks, weights)
