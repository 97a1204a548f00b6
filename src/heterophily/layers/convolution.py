"""What a convolution is: a map of node states that looks at neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn

from heterophily.layers.inputs import GraphInputs


@dataclass(frozen=True, kw_only=True)
class ConvolutionOptions:
    """What a convolution may be told.

    Parameters
    ----------
    heads
        Heads of the attention; they divide the hidden columns among themselves.
    attention_dropout
        Rate of the dropout on attention weights and on FAGCN's coefficients.
    epsilon
        Share of the node itself in FAGCN's sum.
    with_structure, num_nodes
        Whether ACM mixes a fourth channel ``ReLU(A W_A)``, with a weight (N, H) for N nodes.
    use_layer_norm
        Whether ACM's channels pass a layer norm on the way to their scores, as in ACM-GCN+.
    """

    heads: int = 4
    attention_dropout: float = 0.0
    epsilon: float = 0.3
    with_structure: bool = False
    num_nodes: int | None = None
    use_layer_norm: bool = False


class Convolution(nn.Module, ABC):
    """A map of node states that looks at neighbours."""

    width: int

    @abstractmethod
    def forward(
        self, state: Tensor, inputs: GraphInputs, *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Map (N, H) to (N, W); ``weights`` receives the mixing weights, if there are any."""
