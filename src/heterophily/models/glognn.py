"""GloGNN and GloGNN++: every node aggregates from all nodes, in linear time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.dropout import dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class GlognnOptions(BaselineOptions):
    r"""Global homophily.

    Parameters
    ----------
    depth
        Number of aggregation layers.
    hops
        Largest power K of Â in the regularisation of Z.
    alpha, beta
        Weights of :math:`\|Z\|^2` and of the distance between Z and the powers of Â; their sum
        is above 0.
    gamma
        Share of the initial state, below 1.
    delta
        Share of the features (1) against the adjacency (0) in the initial state.
    normalize_structure
        Whether the initial state sees Â in place of A, as in the released program.
    use_importance
        Whether each column of the state has a learned importance (GloGNN++).
    """

    depth: int = 2
    hops: int = 3
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 0.2
    delta: float = 0.5
    normalize_structure: bool = False
    use_importance: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("hops", self.hops)
        check_share("delta", self.delta)
        if not (self.alpha >= 0 and self.beta >= 0 and self.alpha + self.beta > 0):
            raise InputError(
                f"alpha={self.alpha}, beta={self.beta}; use numbers of at least 0, one of them "
                "above 0"
            )
        if not 0.0 <= self.gamma < 1.0:
            raise InputError(f"gamma={self.gamma}; it is at least 0 and below 1")


class Glognn(nn.Module):
    r"""Li et al. (2022), section 4.

    .. math:: H^{(0)} = \text{MLP}(\text{ReLU}(\delta X W_X + (1-\delta) A W_A)), \qquad
              H^{(l+1)} = (1-\gamma) Z H^{(l)} + \gamma H^{(0)}

    where Z, (N, N), minimises

    .. math:: \|H - (1-\gamma) Z H - \gamma H^{(0)}\|_\Sigma^2 + \alpha \|Z\|_F^2
              + \beta \|Z - \textstyle\sum_{k=1}^K \lambda_k \hat A^k\|_F^2

    with :math:`\Sigma` the identity, or diagonal and learned in GloGNN++. Z has a closed form and
    is never built: :math:`Z H` needs only (C, C) matrices and K sparse products.
    """

    card: ClassVar[Card] = Card(
        does=(
            "Each node takes in all other nodes with weights found by a formula, so also "
            "distant ones of its class."
        ),
        paper="Li et al. 2022, Finding Global Homophily in GNNs, section 4",
        cost="O(nnz(X) H + E H + L (N C² + K E C))",
        departs="A as it is in the initial state (the released program: Â, option "
        "`normalize_structure`); GloGNN++: Z is the exact minimiser (the released program leaves "
        "Σ out of the inverse and multiplies the state by it)",
    )

    def __init__(
        self, options: GlognnOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        self.features = FeatureLinear(
            num_features, options.hidden, bias=True, initialization="glorot"
        )
        self.structure_weight = nn.Parameter(torch.empty(num_nodes, options.hidden))  # W_A
        initialize(self.structure_weight, "glorot")
        self.output = FeatureLinear(options.hidden, num_classes, bias=True, initialization="glorot")
        self.hop_weights = nn.Parameter(torch.full((options.hops,), 1.0 / options.hops))  # lambda
        self.importance = (
            nn.Parameter(torch.ones(num_classes)) if options.use_importance else None
        )  # the diagonal of Sigma

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        initial = state = self.initial(inputs)
        for _ in range(self.options.depth):
            state = self.aggregated(state, initial, inputs.operator)
        return state

    def initial(self, inputs: GraphInputs) -> Tensor:
        """Return :math:`H^{(0)}`, (N, C)."""
        assert inputs.structure is not None
        options, training = self.options, self.training
        features = drop_features(inputs.features, options.input_rate, training=training)
        adjacency = inputs.operator if options.normalize_structure else inputs.structure
        joined = torch.lerp(
            adjacency(self.structure_weight), self.features(features), options.delta
        )
        hidden = dropout(torch.relu(joined), options.dropout, training=training)
        initial: Tensor = self.output(hidden)
        return initial

    def aggregated(self, state: Tensor, initial: Tensor, operator: Propagation) -> Tensor:
        r"""Return the next state, (N, C).

        With :math:`c = \alpha + \beta` and :math:`K = (c I + (1-\gamma)^2 \Sigma H^T H)^{-1}`,
        the push-through identity gives
        :math:`Z H = ((1-\gamma)(H - \gamma H^{(0)}) \Sigma H^T
        + \beta \sum \lambda_k \hat A^k) H K`.
        """
        options = self.options
        rest = 1.0 - options.gamma
        gram = state.T @ state  # (C, C)
        if self.importance is not None:
            gram = self.importance.unsqueeze(1) * gram
        scale = (options.alpha + options.beta) * torch.eye(len(gram), out=torch.empty_like(gram))
        solved = torch.linalg.solve(scale + rest**2 * gram, torch.cat([gram, state]), left=False)
        global_part = rest * (state - options.gamma * initial) @ solved[: len(gram)]
        power, local_part = solved[len(gram) :], torch.zeros_like(state)
        for weight in self.hop_weights:
            power = operator(power)
            local_part = torch.addcmul(local_part, weight, power)
        found: Tensor = rest * (global_part + options.beta * local_part) + options.gamma * initial
        return found
