"""GAT: graph attention networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import elu

from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.edges import edges_of
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.gat_layer import GatLayer
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class GatOptions(BaselineOptions):
    """Graph attention.

    Parameters
    ----------
    hidden
        Columns of one head.
    heads, output_heads
        Heads of the hidden layers (joined) and of the output layer (averaged).
    depth
        Number of layers.
    attention_dropout
        Rate of the dropout on the attention weights; by default ``dropout``, as in the paper.
    """

    hidden: int = 8
    dropout: float = 0.6
    heads: int = 8
    output_heads: int = 1
    depth: int = 2
    attention_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        for name in ("heads", "output_heads", "depth"):
            check_count(name, getattr(self, name))
        check_rate(self.attention_rate, name="attention_dropout")

    @property
    def attention_rate(self) -> float:
        """Rate of the dropout on the attention weights."""
        return self.dropout if self.attention_dropout is None else self.attention_dropout


class Gat(nn.Module):
    """Attention layers with ELU between them (Veličković et al. 2018, section 3.3)."""

    card: ClassVar[Card] = Card(
        does="Averages over neighbours with learned weights (attention).",
        paper="Veličković et al. 2018, Graph Attention Networks, Eqs. 1-6",
        cost="O(nnz(X) H + E H)",
        acm="`acm(layer)`",
    )

    def __init__(
        self, options: GatOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = options.dropout, options.input_rate
        seen = [num_features, *[options.hidden * options.heads] * (options.depth - 1)]
        self.layers = nn.ModuleList(
            GatLayer(
                width,
                num_classes if place == options.depth else options.hidden,
                heads=options.output_heads if place == options.depth else options.heads,
                joins_heads=place < options.depth,
                attention_dropout=options.attention_rate,
            )
            for place, width in enumerate(seen, start=1)
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        edges = edges_of(inputs.operator)
        features = drop_features(inputs.features, self.input_dropout, training=self.training)
        state: Tensor = self.layers[0](features, edges)
        for layer in self.layers[1:]:
            state = layer(dropout(elu(state), self.dropout, training=self.training), edges)
        return state
