"""APPNP: predict, then propagate with personalised PageRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.feature_mlp import FeatureMlp
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class AppnpOptions(BaselineOptions):
    r"""Personalised PageRank.

    Parameters
    ----------
    depth
        Layers of the perceptron.
    hops
        Power iteration steps K.
    alpha
        Teleport probability :math:`\alpha`.
    edge_dropout
        Rate of the dropout on the entries of Â in each step (the paper drops there too; the
        comparisons that the ACM paper quotes do not).
    """

    depth: int = 2
    hops: int = 10
    alpha: float = 0.1
    edge_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_count("hops", self.hops)
        check_share("alpha", self.alpha)
        check_rate(self.edge_dropout, name="edge_dropout")


class Appnp(nn.Module):
    r"""Gasteiger et al. (2019), section 3: APPNP's power iteration, Â symmetric and renormalised.

    .. math:: Z^{(0)} = H = \text{MLP}(X), \qquad
              Z^{(k+1)} = (1-\alpha) \hat A Z^{(k)} + \alpha H
    """

    card: ClassVar[Card] = Card(
        does=(
            "A perceptron whose answers are spread along edges; in each step a part returns to "
            "the node."
        ),
        paper="Gasteiger et al. 2019, Predict then Propagate, section 3 (APPNP)",
        cost="O(nnz(X) H + K E C)",
        departs="dropout on Â is an option (`edge_dropout`), off by default",
    )

    def __init__(
        self, options: AppnpOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        self.mlp = FeatureMlp(
            [num_features, *[options.hidden] * (options.depth - 1), num_classes],
            dropout=options.dropout,
            input_dropout=options.input_rate,
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        prediction: Tensor = self.mlp(inputs.features)
        state, alpha = prediction, self.options.alpha
        for _ in range(self.options.hops):
            state = self._dropped(inputs.operator)(state).lerp(prediction, alpha)
        return state

    def _dropped(self, operator: Propagation) -> Propagation:
        rate = self.options.edge_dropout
        if not self.training or rate == 0.0:
            return operator
        values = dropout(operator.matrix.values, rate, training=True)
        return Propagation(operator.matrix.with_values(values))
