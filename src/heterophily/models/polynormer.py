"""Polynormer: local, then global attention, each a polynomial of the node's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.options import check_count

_TINY = 1e-6


@dataclass(frozen=True, kw_only=True)
class PolynormerOptions(BaselineOptions):
    r"""A polynomial graph transformer.

    Parameters
    ----------
    depth
        Number of local layers.
    global_depth
        Number of global attention layers; 0 leaves the local part alone.
    heads
        Heads of the global attention; they divide the hidden columns among themselves.
    beta
        Share :math:`\beta` of a layer's output beside its product with the gate.
    global_dropout
        Rate after each global layer; by default ``dropout``.
    """

    dropout: float = 0.3
    input_dropout: float | None = 0.15
    depth: int = 5
    global_depth: int = 2
    heads: int = 1
    beta: float = 0.9
    global_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        for name in ("depth", "heads"):
            check_count(name, getattr(self, name))
        if self.global_depth:
            check_count("global_depth", self.global_depth)
        check_share("beta", self.beta)
        check_rate(self.global_rate, name="global_dropout")
        if self.hidden % self.heads:
            raise InputError(
                f"hidden={self.hidden} cannot be divided among heads={self.heads}; choose a "
                "multiple"
            )

    @property
    def global_rate(self) -> float:
        """Rate of the dropout after each global layer."""
        return self.dropout if self.global_dropout is None else self.global_dropout


class LocalLayer(nn.Module):
    r"""One local layer: :math:`(1 - \beta) \text{LN}(\text{ReLU}(X W_h) \circ Y) + \beta Y`.

    :math:`Y = \text{ReLU}(\text{BN}(\hat A X W_c + X W))`, all maps with a bias.
    """

    def __init__(self, in_features: int, width: int, *, beta: float, dropout: float) -> None:
        super().__init__()
        self.beta, self.dropout = beta, dropout
        self.gate = FeatureLinear(in_features, width, bias=True).begin_like_torch()
        self.neighbours = FeatureLinear(in_features, width, initialization="glorot")
        self.neighbours_bias = nn.Parameter(torch.zeros(width))
        self.own = FeatureLinear(in_features, width, bias=True).begin_like_torch()
        self.batch_norm = nn.BatchNorm1d(width)
        self.norm = nn.LayerNorm(width)

    def forward(self, state: Block, inputs: GraphInputs) -> Tensor:
        """Map (N, F) to (N, H)."""
        gate = torch.relu(self.gate(state))
        gathered = inputs.operator(self.neighbours(state)) + self.neighbours_bias
        output = torch.relu(self.batch_norm(gathered + self.own(state)))
        output = dropout(output, self.dropout, training=self.training)
        raised: Tensor = self.norm(gate * output)
        return (1.0 - self.beta) * raised + self.beta * output


class GlobalLayer(nn.Module):
    r"""Attention of every node to every node in linear time.

    With :math:`Q = \sigma(X W_q)`, :math:`K = \sigma(X W_k)` and :math:`V = X W_v`:

    .. math:: \text{ReLU}\big(W_o\, [\text{LN}(Q (K^T V) / Q (K^T 1)) \circ (X W_h + \beta)]\big)
    """

    def __init__(self, width: int, *, heads: int, beta: float, dropout: float) -> None:
        super().__init__()
        self.heads, self.beta, self.dropout = heads, beta, dropout
        self.gate = FeatureLinear(width, width, bias=True).begin_like_torch()
        self.query = FeatureLinear(width, width).begin_like_torch()
        self.key = FeatureLinear(width, width).begin_like_torch()
        self.value = FeatureLinear(width, width).begin_like_torch()
        self.norm = nn.LayerNorm(width)
        self.output = FeatureLinear(width, width, bias=True).begin_like_torch()

    def forward(self, state: Tensor) -> Tensor:
        """Map (N, H) to (N, H)."""
        shape = (state.shape[0], -1, self.heads)  # (N, columns of a head, heads)
        query = self.query(state).sigmoid().view(shape)
        key = self.key(state).sigmoid().view(shape)
        value = self.value(state).view(shape)
        summed = torch.einsum("ndh,nmh->dmh", key, value)  # no N x N matrix
        total = torch.einsum("ndh,dh->nh", query, key.sum(0)).unsqueeze(1)
        found = torch.einsum("ndh,dmh->nmh", query, summed) / (total + _TINY)
        mixed = self.norm(found.flatten(1)) * (self.gate(state) + self.beta)
        return dropout(torch.relu(self.output(mixed)), self.dropout, training=self.training)


class Polynormer(nn.Module):
    """Deng et al. (2024): the sum of all local layers, then global attention."""

    card: ClassVar[Card] = Card(
        does=(
            "Layers on the edges, then attention of every node to all nodes; both multiply "
            "features instead of only adding them."
        ),
        paper="Deng et al. 2024, Polynormer, sections 3.1-3.3",
        cost="O(nnz(X) H + L (E H + N H²))",
        departs="local part is the GCN form (as in PyG); local and global parts train together "
        "from the start (the released program warms up the local part)",
    )

    def __init__(
        self, options: PolynormerOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.input_dropout, hidden, beta = options.input_rate, options.hidden, options.beta
        seen = [num_features, *[hidden] * (options.depth - 1)]
        self.local_layers = nn.ModuleList(
            LocalLayer(width, hidden, beta=beta, dropout=options.dropout) for width in seen
        )
        self.global_layers = nn.ModuleList(
            GlobalLayer(hidden, heads=options.heads, beta=beta, dropout=options.global_rate)
            for _ in range(options.global_depth)
        )
        self.norm = nn.LayerNorm(hidden) if options.global_depth else nn.Identity()
        self.output = FeatureLinear(hidden, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        features = drop_features(inputs.features, self.input_dropout, training=self.training)
        state: Tensor = self.local_layers[0](features, inputs)
        total = state
        for layer in self.local_layers[1:]:
            state = layer(state, inputs)
            total = total + state
        total = self.norm(total)
        for layer in self.global_layers:
            total = layer(total)
        logits: Tensor = self.output(total)
        return logits
