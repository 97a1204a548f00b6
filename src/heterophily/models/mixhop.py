"""MixHop: several powers of Â in every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.channel_linear import Block, channel_products
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_choice, check_count

Output = Literal["attention", "linear"]


@dataclass(frozen=True, kw_only=True)
class MixhopOptions(BaselineOptions):
    """Powers of Â side by side.

    Parameters
    ----------
    hidden
        Columns of each power.
    depth
        Number of layers.
    powers
        The set P of powers, increasing.
    output
        How the powers of the last layer become logits: ``"attention"`` (the paper) weighs them
        with a softmax of learned scores, ``"linear"`` maps all their columns.
    batch_norm
        Batch norm before every ReLU. With ``output="linear"`` this is the program behind the
        numbers that the ACM paper prints (Lim et al. 2021).
    """

    hidden: int = 16
    depth: int = 2
    powers: tuple[int, ...] = (0, 1, 2)
    output: Output = "attention"
    batch_norm: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_choice("output", self.output, ("attention", "linear"))
        object.__setattr__(self, "powers", tuple(self.powers))
        rising = list(self.powers) == sorted(set(self.powers))
        if not self.powers or not rising or self.powers[0] < 0:
            raise InputError(f"powers={self.powers}; give increasing whole numbers from 0 on")


class MixhopLayer(nn.Module):
    r"""The layer :math:`[\, \hat A^j H W_j + b_j \;|\; j \in P \,]`, blocks (N, H) side by side."""

    def __init__(self, in_features: int, width: int, powers: tuple[int, ...]) -> None:
        super().__init__()
        self.powers = powers
        self.weight = nn.Parameter(torch.empty(len(powers), in_features, width))
        self.bias = nn.Parameter(torch.zeros(len(powers), width))
        initialize(self.weight, "glorot")

    def forward(self, features: Block, operator: Propagation) -> Tensor:
        """Map (N, F) to (N, \\|P\\|, H).

        One product with Â serves all powers that are not finished, so the largest power counts.
        """
        products = channel_products(features, self.weight)
        done = dict(zip(self.powers, products, strict=True))
        width = products[0].shape[1]
        for step in range(1, self.powers[-1] + 1):
            rest = [power for power in self.powers if power >= step]
            moved = operator(torch.cat([done[power] for power in rest], dim=1))
            done.update(zip(rest, torch.split(moved, width, dim=1), strict=True))
        return torch.stack([done[power] for power in self.powers], dim=1) + self.bias


class Mixhop(nn.Module):
    r"""Abu-El-Haija et al. (2019): MixHop layers and output layer, Â symmetric and renormalised.

    The last layer gives C columns per power; with :math:`q` learned,
    :math:`\text{logits} = \sum_{j \in P} \text{softmax}(q)_j\, H_j`.
    """

    card: ClassVar[Card] = Card(
        does="Each layer joins averages over 0, 1 and 2 steps, each with its own weight.",
        paper="Abu-El-Haija et al. 2019, MixHop, its layer and output layer",
        cost="O(nnz(X) H |P| + E H |P|²)",
        departs="the same width for every power (the paper prunes widths with a lasso); batch "
        "norm and a linear output, which the program behind the quoted numbers has, are options",
        acm="`acm(layer)`",
    )

    def __init__(
        self, options: MixhopOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = options.dropout, options.input_rate
        powers = options.powers
        seen = [num_features, *[options.hidden * len(powers)] * (options.depth - 1)]
        widths = [*[options.hidden] * (options.depth - 1), num_classes]
        self.layers = nn.ModuleList(
            MixhopLayer(before, after, powers) for before, after in zip(seen, widths, strict=True)
        )
        normed = options.depth - 1 if options.batch_norm else 0
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(options.hidden * len(powers)) for _ in range(normed)
        )
        self.group_scores = self.output = None
        if options.output == "attention":
            self.group_scores = nn.Parameter(torch.zeros(len(powers)))  # q
        else:
            self.output = FeatureLinear(num_classes * len(powers), num_classes, bias=True)
            self.output.begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        features = drop_features(inputs.features, self.input_dropout, training=self.training)
        groups: Tensor = self.layers[0](features, inputs.operator)
        for place, layer in enumerate(self.layers[1:]):
            joined = self.norms[place](groups.flatten(1)) if self.norms else groups.flatten(1)
            state = dropout(torch.relu(joined), self.dropout, training=self.training)
            groups = layer(state, inputs.operator)
        if self.output is not None:
            logits: Tensor = self.output(groups.flatten(1))
            return logits
        assert self.group_scores is not None
        return torch.einsum("npc,p->nc", groups, self.group_scores.softmax(0))
