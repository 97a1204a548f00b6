"""GPR-GNN: a learned polynomial of Â."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.feature_mlp import FeatureMlp
from heterophily.layers.initialization import draw_uniform
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_choice, check_count

InitialWeights = Literal["ppr", "nppr", "sgc", "random"]


def _ppr(alpha: float, hops: int) -> Tensor:
    gamma = alpha * (1.0 - alpha) ** torch.arange(hops + 1)
    gamma[-1] = (1.0 - alpha) ** hops
    return gamma


def _nppr(alpha: float, hops: int) -> Tensor:
    gamma = alpha ** torch.arange(hops + 1)
    return gamma / gamma.abs().sum()


def _sgc(alpha: float, hops: int) -> Tensor:
    return nn.functional.one_hot(torch.tensor(hops), hops + 1).float()


def _random(alpha: float, hops: int) -> Tensor:
    bound = (3.0 / (hops + 1)) ** 0.5
    gamma = draw_uniform(torch.empty(hops + 1), bound)
    return gamma / gamma.abs().sum()


STARTS: dict[str, Callable[[float, int], Tensor]] = {
    "ppr": _ppr,
    "nppr": _nppr,
    "sgc": _sgc,
    "random": _random,
}
"""How the coefficients begin: PageRank, its signed twin, the last power alone, random."""


@dataclass(frozen=True, kw_only=True)
class GprgnnOptions(BaselineOptions):
    r"""Generalised PageRank.

    Parameters
    ----------
    depth
        Layers of the perceptron.
    hops
        Degree K of the polynomial.
    alpha, start
        :math:`\gamma` begins as in :data:`STARTS`, with this :math:`\alpha`.
    propagation_dropout
        Rate of the dropout between perceptron and propagation; by default ``dropout``.
    """

    depth: int = 2
    hops: int = 10
    alpha: float = 0.1
    start: InitialWeights = "ppr"
    propagation_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("hops", self.hops)
        check_share("alpha", self.alpha)
        check_choice("start", self.start, tuple(STARTS))
        check_rate(self.propagation_rate, name="propagation_dropout")

    @property
    def propagation_rate(self) -> float:
        """Rate of the dropout before the propagation."""
        return self.dropout if self.propagation_dropout is None else self.propagation_dropout


class Gprgnn(nn.Module):
    r"""Chien et al. (2021): generalised PageRank of a perceptron, Â symmetric and renormalised.

    .. math:: Z = \sum_{k=0}^K \gamma_k \hat A^k \text{MLP}(X)
    """

    card: ClassVar[Card] = Card(
        does="A perceptron, then a sum of averages over 0 to K steps whose weights are learned.",
        paper="Chien et al. 2021, Adaptive Universal Generalized PageRank, the GPR sum",
        cost="O(nnz(X) H + K E C)",
        departs="weight decay also acts on γ; the released program exempts it, as "
        "coefficient_weight_decay=0 does",
    )

    def __init__(
        self, options: GprgnnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.rate = options.propagation_rate
        self.mlp = FeatureMlp(
            [num_features, *[options.hidden] * (options.depth - 1), num_classes],
            dropout=options.dropout,
            input_dropout=options.input_rate,
        )
        self.gamma = nn.Parameter(STARTS[options.start](options.alpha, options.hops))

    @property
    def filter_coefficients(self) -> tuple[nn.Parameter, ...]:
        """γ, which may be trained with a learning rate and decay of its own."""
        return (self.gamma,)

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        power = dropout(self.mlp(inputs.features), self.rate, training=self.training)
        total = self.gamma[0] * power
        for coefficient in self.gamma[1:]:
            power = inputs.operator(power)
            total = torch.addcmul(total, coefficient, power)
        return total
