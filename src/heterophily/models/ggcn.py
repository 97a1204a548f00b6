"""GGCN: signed messages with a learned correction for degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, softplus

from heterophily.layers.channel_linear import Block
from heterophily.layers.derived import derived
from heterophily.layers.dropout import dropout
from heterophily.layers.edges import Edges, edges_of, inner_products, weighted_sum
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card, check_positive
from heterophily.models.options import check_count

_TINY = 1e-9  # rows shorter than this have no direction


@dataclass(frozen=True, kw_only=True)
class GgcnOptions(BaselineOptions):
    r"""Signed messages.

    Parameters
    ----------
    depth
        Number of layers, at least 2 for a hidden state.
    decay, exponent
        Layer l adds :math:`\log(\text{decay} / l^\text{exponent} + 1)` of its output to the
        residual.
    """

    hidden: int = 64
    depth: int = 2
    decay: float = 1.0
    exponent: float = 3.0

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_positive("decay", self.decay)
        check_positive("exponent", self.exponent)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Fixed numbers of every edge."""

    values: Tensor  # (E,) entries of Â, 0 on loops
    ratios: Tensor  # (E,) sqrt(d_j / d_i) - 1


@derived
def _weights_of(operator: Propagation) -> _Weights:
    edges = edges_of(operator)
    is_loop = edges.rows == edges.columns
    # Â_ii = 1 / d_i and Â_ij = 1 / sqrt(d_i d_j), so their ratio is sqrt(d_j / d_i).
    diagonal = torch.zeros(edges.num_nodes, dtype=edges.values.dtype, device=edges.values.device)
    diagonal[edges.rows[is_loop]] = edges.values[is_loop]
    ratios = diagonal[edges.rows] / edges.values - 1.0
    return _Weights(edges.values.masked_fill(is_loop, 0.0), ratios)


class GgcnLayer(nn.Module):
    r"""Like neighbours attract, unlike neighbours repel.

    .. math:: \hat H = H W + b, \quad s_{ij} = \cos(\hat h_i, \hat h_j), \quad
              \tau_{ij} = \text{softplus}(\lambda_0 r_{ij} + \lambda_1)

    .. math:: H' = \hat\alpha \big(\hat\beta_0 \hat H
              + \hat\beta_1 (S_+ \odot \hat A \odot T) \hat H
              + \hat\beta_2 (S_- \odot \hat A \odot T) \hat H\big)

    with :math:`r_{ij} = \sqrt{d_j / d_i} - 1` the relative degree, S₊ and S₋ the positive and
    negative parts of s off the diagonal, :math:`\hat\beta` a softmax and :math:`\hat\alpha` a
    softplus.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        # The bias must not begin at zero: at first it outweighs H W, so that neighbours look alike
        # and attract. Begun at zero, the signs are noise and deep networks do not train.
        self.linear = FeatureLinear(in_features, out_features, bias=True).begin_like_torch()
        self.degree = nn.Parameter(torch.tensor([0.5, 0.0]))  # lambda
        self.shares = nn.Parameter(torch.zeros(3))  # beta: itself, positive, negative
        self.scale = nn.Parameter(torch.tensor([2.0]))  # alpha

    def forward(self, features: Block, operator: Propagation) -> Tensor:
        """Map (N, F) to (N, H)."""
        hidden = self.linear(features)
        edges, fixed = edges_of(operator), _weights_of(operator)
        own, positive, negative = self.shares.softmax(0)
        likeness = self.likeness(hidden, edges)
        signed = positive * torch.relu(likeness) - negative * torch.relu(-likeness)
        correction = softplus(self.degree[0] * fixed.ratios + self.degree[1])
        weights = (signed * correction * fixed.values).unsqueeze(1)
        messages = weighted_sum(weights, hidden.unsqueeze(1), edges).squeeze(1)
        output: Tensor = softplus(self.scale) * (own * hidden + messages)
        return output

    @staticmethod
    def likeness(hidden: Tensor, edges: Edges) -> Tensor:
        """Return the cosine between the two ends of every edge, (E,)."""
        length = (hidden.square().sum(1, keepdim=True) + _TINY**2).sqrt()
        direction = hidden / length
        return inner_products(direction, direction, edges)


class Ggcn(nn.Module):
    """Yan et al. (2021), section 4: layers with ELU and a residual that decays with depth."""

    card: ClassVar[Card] = Card(
        does=(
            "Adds similar neighbours and subtracts dissimilar ones (cosine of their states), "
            "with a learned correction for degrees."
        ),
        paper="Yan et al. 2021, Two Sides of the Same Coin, section 4",
        cost="O(nnz(X) H + E H)",
        departs="cosines on edges only: the released program's dense N x N form is not needed; no "
        "batch or layer norm",
    )

    def __init__(
        self, options: GgcnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        widths = [*[options.hidden] * (options.depth - 1), num_classes]
        seen = [num_features, *widths[:-1]]
        self.layers = nn.ModuleList(
            GgcnLayer(before, after) for before, after in zip(seen, widths, strict=True)
        )
        self.residual = None
        if options.depth > 1:
            residual = FeatureLinear(num_features, options.hidden, bias=True)
            self.residual = residual.begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        options, training = self.options, self.training
        features = drop_features(inputs.features, options.input_rate, training=training)
        output: Tensor = self.layers[0](features, inputs.operator)
        if self.residual is None:
            return output
        total = elu(self.residual(features))
        for number, layer in enumerate(self.layers[1:], start=1):
            state = dropout(elu(output), options.dropout, training=training)
            share = math.log(options.decay / (number + 1) ** options.exponent + 1.0)
            total = total + (state if number == 1 else share * state)
            output = layer(total, inputs.operator)
        return output
