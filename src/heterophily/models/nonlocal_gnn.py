"""NLMLP, NLGCN and NLGAT: nodes sorted by a learned score, then a convolution over the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.gat import Gat, GatOptions
from heterophily.models.networks import StackNetwork
from heterophily.models.options import StackOptions, check_choice, check_count

Local = Literal["mlp", "gcn", "gat"]


@dataclass(frozen=True, kw_only=True)
class NonLocalOptions(BaselineOptions):
    """Attention-guided sorting.

    Parameters
    ----------
    local
        The local embedding: ``"mlp"``, ``"gcn"`` or ``"gat"``.
    depth
        Layers of the local embedding.
    heads
        Heads of a GAT (``hidden`` is then the width of one head).
    kernel
        Width of the convolutions, odd.
    convolution_dropout
        Rate of the dropout between the convolutions; by default ``dropout``.
    """

    hidden: int = 48
    local: Local = "mlp"
    depth: int = 2
    heads: int = 8
    kernel: int = 5
    convolution_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_choice("local", self.local, tuple(_LOCAL))
        check_count("depth", self.depth)
        check_count("heads", self.heads)
        check_count("kernel", self.kernel)
        if self.kernel % 2 == 0:
            raise InputError(f"kernel={self.kernel}; it must be odd, so that it has a middle")
        check_rate(self.convolution_rate, name="convolution_dropout")

    @property
    def convolution_rate(self) -> float:
        """Rate of the dropout between the convolutions."""
        return self.dropout if self.convolution_dropout is None else self.convolution_dropout


def _stack(channel: str) -> Callable[..., nn.Module]:
    def build(options: NonLocalOptions, **sizes: int) -> nn.Module:
        stack = StackOptions(
            channels=(channel,),
            mixer="sum",
            activate_output=False,
            hidden=options.hidden,
            depth=options.depth,
            dropout=options.dropout,
            input_dropout=options.input_dropout,
            initialization="glorot",
        )
        return StackNetwork(stack, **sizes)

    return build


def _gat(options: NonLocalOptions, **sizes: int) -> nn.Module:
    gat = GatOptions(
        hidden=options.hidden,
        heads=options.heads,
        depth=options.depth,
        dropout=options.dropout,
        input_dropout=options.input_dropout,
    )
    return Gat(gat, **sizes)


_LOCAL: dict[str, Callable[..., nn.Module]] = {
    "mlp": _stack("identity"),
    "gcn": _stack("low"),
    "gat": _gat,
}


class NonLocal(nn.Module):
    r"""Liu et al. (2020), section 3: non-local aggregation through sorting.

    .. math:: z = \text{local}(X), \quad a_v = c^T z_v + b, \quad
              \hat z = \text{Conv}(\text{ReLU}(\text{Conv}(\text{sort}_a(a_v z_v)))), \quad
              \text{logits} = [z \| \hat z] W + b

    Nodes that the calibration vector c scores alike become neighbours on the line, however far
    apart they are in the graph. Nodes of exactly equal score stay in the order of their numbers.
    """

    card: ClassVar[Card] = Card(
        does=(
            "Sorts all nodes by a learned score, so that nodes far away in the graph can "
            "become neighbours."
        ),
        paper="Liu et al. 2020, Non-Local Graph Neural Networks, section 3",
        cost="local embedding + O(N log N + N C²)",
        departs="local maps have no bias (those of the package's MLP and GCN); ELU inside NLGAT "
        "(the released program: ReLU)",
    )

    def __init__(
        self, options: NonLocalOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.rate = options.convolution_rate
        sizes = {"num_nodes": num_nodes, "num_features": num_features, "num_classes": num_classes}
        self.local = _LOCAL[options.local](options, **sizes)
        # A score that begins at zero would multiply the line away: b is drawn like c.
        self.score = FeatureLinear(num_classes, 1, bias=True).begin_like_torch()
        self.convolutions = nn.ModuleList(
            nn.Conv1d(num_classes, num_classes, options.kernel, padding="same") for _ in range(2)
        )
        self.output = FeatureLinear(2 * num_classes, num_classes, bias=True).begin_like_torch()

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        local: Tensor = self.local(inputs)
        logits: Tensor = self.output(torch.cat([local, self.non_local(local)], dim=1))
        return logits

    def non_local(self, local: Tensor) -> Tensor:
        """Return :math:`\\hat z`, (N, C)."""
        score = self.score(local)  # (N, 1)
        order = torch.argsort(score.squeeze(1), stable=True)
        line = (score * local).index_select(0, order).T.unsqueeze(0)  # (1, C, N)
        line = torch.relu(self.convolutions[0](line))
        line = self.convolutions[1](dropout(line, self.rate, training=self.training))
        found: Tensor = line.squeeze(0).T.index_select(0, torch.argsort(order))
        return found
