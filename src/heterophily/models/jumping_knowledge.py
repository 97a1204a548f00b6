"""GCN+JK and GAT+JK: the classifier sees every layer, not only the last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from heterophily.layers.channel_linear import Block
from heterophily.layers.dropout import check_rate, dropout
from heterophily.layers.edges import edges_of
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.gat_layer import GatLayer
from heterophily.layers.inputs import GraphInputs
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_choice, check_count

Jump = Literal["max", "cat"]
PAPER = "Xu et al. 2018, Jumping Knowledge Networks, section 4"


def _largest(states: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(states)).amax(0)


def _joined(states: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(states), dim=1)


JUMPS: dict[str, Callable[[Sequence[Tensor]], Tensor]] = {"max": _largest, "cat": _joined}
"""How the layers' outputs, each (N, H), become what the classifier sees."""


@dataclass(frozen=True, kw_only=True)
class GcnJkOptions(BaselineOptions):
    """GCN layers with jumping knowledge.

    Parameters
    ----------
    depth
        Number of layers; the classifier comes after them.
    jk
        ``"max"``: the largest value of each column over the layers; ``"cat"``: all columns.
    batch_norm
        The program behind the numbers that the ACM paper prints (Lim et al. 2021): batch norm
        before every activation, the last layer without either, and the classifier sees the layers
        before their dropout.
    """

    depth: int = 2
    jk: Jump = "max"
    batch_norm: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_choice("jk", self.jk, tuple(JUMPS))

    @property
    def width(self) -> int:
        """Columns of a layer's output."""
        return self.hidden


@dataclass(frozen=True, kw_only=True)
class GatJkOptions(GcnJkOptions):
    """GAT layers with jumping knowledge; ``hidden`` is the width of one of the joined heads."""

    hidden: int = 8
    heads: int = 8
    attention_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("heads", self.heads)
        check_rate(self.attention_dropout, name="attention_dropout")

    @property
    def width(self) -> int:
        """Columns of a layer's output."""
        return self.hidden * self.heads


class _Jumping(nn.Module, ABC):
    def __init__(
        self,
        options: GcnJkOptions,
        make_layer: Callable[[int], nn.Module],
        activation: Callable[[Tensor], Tensor],
        num_features: int,
        num_classes: int,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = options.dropout, options.input_rate
        self.jump, self.activation = JUMPS[options.jk], activation
        seen = [num_features, *[options.width] * (options.depth - 1)]
        self.layers = nn.ModuleList(make_layer(width) for width in seen)
        normed = options.depth - 1 if options.batch_norm else 0
        self.norms = nn.ModuleList(nn.BatchNorm1d(options.width) for _ in range(normed))
        self.has_norms = options.batch_norm
        columns = options.width * (options.depth if options.jk == "cat" else 1)
        self.output = FeatureLinear(columns, num_classes, bias=True, initialization="glorot")

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        state: Block = drop_features(inputs.features, self.input_dropout, training=self.training)
        shown = self._normed(state, inputs) if self.has_norms else self._plain(state, inputs)
        logits: Tensor = self.output(self.jump(shown))
        return logits

    def _plain(self, state: Block, inputs: GraphInputs) -> list[Tensor]:
        states: list[Tensor] = []
        for layer in self.layers:
            output = self.activation(self.apply_layer(layer, state, inputs))
            state = dropout(output, self.dropout, training=self.training)
            states.append(state)
        return states

    def _normed(self, state: Block, inputs: GraphInputs) -> list[Tensor]:
        states: list[Tensor] = []
        *hidden, last = self.layers
        for layer, norm in zip(hidden, self.norms, strict=True):
            states.append(self.activation(norm(self.apply_layer(layer, state, inputs))))
            state = dropout(states[-1], self.dropout, training=self.training)
        return [*states, self.apply_layer(last, state, inputs)]

    @abstractmethod
    def apply_layer(self, layer: nn.Module, state: Block, inputs: GraphInputs) -> Tensor:
        """Return what a layer makes of a state, before the activation."""


class GcnJk(_Jumping):
    r"""GCN layers :math:`\text{ReLU}(\hat A H W + b)`, all of them shown to the classifier."""

    card: ClassVar[Card] = Card(
        does="A GCN or GAT whose classifier sees the output of every layer.",
        paper=PAPER,
        cost="O(nnz(X) H + E H)",
        departs="batch norm, which the program behind the quoted numbers has, is an option "
        "(`batch_norm`), off by default",
        acm="`acm(layer)`",
    )

    def __init__(
        self, options: GcnJkOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        def make_layer(width: int) -> FeatureLinear:
            return FeatureLinear(width, options.width, bias=True, initialization="glorot")

        super().__init__(options, make_layer, torch.relu, num_features, num_classes)

    def apply_layer(self, layer: nn.Module, state: Block, inputs: GraphInputs) -> Tensor:
        """Return ``Â H W + b``."""
        assert isinstance(layer, FeatureLinear)
        assert layer.bias is not None
        return inputs.operator(state @ layer.weight) + layer.bias


class GatJk(_Jumping):
    """Attention layers with ELU, all of them shown to the classifier."""

    card: ClassVar[Card] = GcnJk.card

    def __init__(
        self, options: GatJkOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        def make_layer(width: int) -> GatLayer:
            return GatLayer(
                width,
                options.hidden,
                heads=options.heads,
                attention_dropout=options.attention_dropout,
            )

        super().__init__(options, make_layer, nn.functional.elu, num_features, num_classes)

    def apply_layer(self, layer: nn.Module, state: Block, inputs: GraphInputs) -> Tensor:
        """Return the attention layer's output."""
        output: Tensor = layer(state, edges_of(inputs.operator))
        return output
