"""BernNet: any filter on the spectrum, as a polynomial in the Bernstein basis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import torch
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.feature_mlp import FeatureMlp
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@cache
def bernstein_to_chebyshev(degree: int) -> NDArray[np.float64]:
    r"""Return M, (K+1, K+1): :math:`\sum_k \theta_k b_k(a) = \sum_j (M \theta)_j T_j(a)`.

    :math:`b_k(a) = 2^{-K} \binom{K}{k} (1 + a)^{K-k} (1 - a)^k` on the eigenvalues a of
    :math:`D^{-1/2} A D^{-1/2}`, that is, of :math:`I - L`.

    >>> bernstein_to_chebyshev(1).tolist()
    [[0.5, 0.5], [0.5, -0.5]]
    """
    columns = []
    for k in range(degree + 1):
        basis = chebyshev.chebmul(
            chebyshev.chebpow([1.0, 1.0], degree - k), chebyshev.chebpow([1.0, -1.0], k)
        )
        columns.append(math.comb(degree, k) / 2.0**degree * basis)
    return np.stack([np.pad(c, (0, degree + 1 - c.size)) for c in columns], axis=1)


@dataclass(frozen=True, kw_only=True)
class BernnetOptions(BaselineOptions):
    """Bernstein polynomial.

    Parameters
    ----------
    depth
        Layers of the perceptron.
    degree
        Degree K of the polynomial.
    propagation_dropout
        Rate of the dropout between perceptron and propagation; by default ``dropout``.
    """

    depth: int = 2
    degree: int = 10
    propagation_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("degree", self.degree)
        check_rate(self.propagation_rate, name="propagation_dropout")

    @property
    def propagation_rate(self) -> float:
        """Rate of the dropout before the propagation."""
        return self.dropout if self.propagation_dropout is None else self.propagation_dropout


class Bernnet(nn.Module):
    r"""He et al. (2021): the Bernstein filter, L the normalised Laplacian, :math:`\theta_k \ge 0`.

    .. math:: Z = \sum_{k=0}^K \text{ReLU}(\theta_k) \frac{1}{2^K} \binom{K}{k}
              (2I - L)^{K-k} L^k \, \text{MLP}(X)

    The sum is worked out in the Chebyshev basis of :math:`I - L`, which needs K sparse products
    in place of the K(K+3)/2 of the formula, and is the same polynomial.
    """

    card: ClassVar[Card] = Card(
        does=(
            "A perceptron, then a learned filter on the graph, written as a Bernstein polynomial."
        ),
        paper="He et al. 2021, BernNet, the Bernstein filter of a perceptron",
        cost="O(nnz(X) H + K E C)",
        departs="same polynomial in the Chebyshev basis: K products instead of K(K+3)/2; θ has "
        "the learning rate and weight decay of the rest; the released program has its own, by "
        "default 0.01 and 0, as coefficient_lr=0.01, coefficient_weight_decay=0 do",
    )

    def __init__(
        self, options: BernnetOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.rate = options.propagation_rate
        self.mlp = FeatureMlp(
            [num_features, *[options.hidden] * (options.depth - 1), num_classes],
            dropout=options.dropout,
            input_dropout=options.input_rate,
        )
        self.theta = nn.Parameter(torch.ones(options.degree + 1))

    @property
    def filter_coefficients(self) -> tuple[nn.Parameter, ...]:
        """θ, which may be trained with a learning rate and decay of its own."""
        return (self.theta,)

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        signal = dropout(self.mlp(inputs.features), self.rate, training=self.training)
        return self.filtered(signal, inputs.operator)

    def filtered(self, signal: Tensor, operator: Propagation) -> Tensor:
        """Apply the polynomial to a signal (N, C); the operator is :math:`I - L`."""
        theta = torch.relu(self.theta)
        to_chebyshev = bernstein_to_chebyshev(theta.numel() - 1)
        coefficients = theta.new_tensor(to_chebyshev) @ theta
        before, current = signal, operator(signal)  # T_0, T_1
        total = coefficients[0] * before + coefficients[1] * current
        for coefficient in coefficients[2:]:
            before, current = current, 2.0 * operator(current) - before
            total = torch.addcmul(total, coefficient, current)
        return total
