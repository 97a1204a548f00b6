"""Strong stacks: any convolution in a residual block with norm and feed-forward."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from heterophily.layers.convolution import ConvolutionOptions
from heterophily.layers.convolutions import (
    CONVOLUTIONS,
    MIXED_CHANNELS,
    WITH_PLUS,
    make_convolution,
)
from heterophily.layers.dropout import check_rate
from heterophily.models.backbones.residual import JUMPS, NORMS, FeedForward, Residual, ResidualBlock
from heterophily.models.baseline import BaselineOptions, Card, check_share
from heterophily.models.networks import NodeClassifier
from heterophily.models.options import check_choice, check_count


@dataclass(frozen=True, kw_only=True)
class ResidualOptions(BaselineOptions):
    """A residual stack.

    Parameters
    ----------
    convolution
        What gathers the neighbourhood: a key of
        :data:`~heterophily.layers.convolutions.CONVOLUTIONS`.
    depth
        Number of blocks.
    expansion
        Inner columns of the feed-forward as a multiple of ``hidden``.
    norm
        ``"layer"``, ``"batch"`` or ``"none"``: before each block and before the output.
    jk
        What the output sees: the ``"last"`` block, the largest value over the blocks (``"max"``),
        or all of them (``"cat"``).
    heads, attention_dropout, epsilon
        See :class:`~heterophily.layers.convolution.ConvolutionOptions`.
    """

    hidden: int = 64
    dropout: float = 0.2
    input_dropout: float | None = 0.0
    convolution: str = "gcn"
    depth: int = 3
    expansion: int = 1
    norm: Literal["layer", "batch", "none"] = "layer"
    jk: Literal["last", "max", "cat"] = "last"
    heads: int = 4
    attention_dropout: float = 0.0
    epsilon: float = 0.3

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        for name in ("depth", "expansion", "heads"):
            check_count(name, getattr(self, name))
        check_choice("convolution", self.convolution, tuple(CONVOLUTIONS))
        check_choice("norm", self.norm, tuple(NORMS))
        check_choice("jk", self.jk, tuple(JUMPS))
        check_rate(self.attention_dropout, name="attention_dropout")
        check_share("epsilon", self.epsilon)

    @property
    def layer_channels(self) -> tuple[str, ...]:
        """The channels that each block mixes; none without ACM."""
        return MIXED_CHANNELS.get(self.convolution, ())

    def of_convolution(self, num_nodes: int) -> ConvolutionOptions:
        """Return what the convolution of a block is told."""
        return ConvolutionOptions(
            heads=self.heads, attention_dropout=self.attention_dropout, epsilon=self.epsilon
        )


@dataclass(frozen=True, kw_only=True)
class PlusOptions(ResidualOptions):
    """A residual stack of ACM with what ACM-GCN+ adds.

    Parameters
    ----------
    with_structure
        Whether each block mixes a fourth channel ``ReLU(A W_A)``.
    use_layer_norm
        Whether the channels pass a layer norm on the way to their scores.
    """

    convolution: str = "acm"
    with_structure: bool = True
    use_layer_norm: bool = True

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_choice("convolution", self.convolution, WITH_PLUS)

    @property
    def layer_channels(self) -> tuple[str, ...]:
        """The channels that each block mixes."""
        return (*super().layer_channels, *(["structure"] if self.with_structure else ()))

    def of_convolution(self, num_nodes: int) -> ConvolutionOptions:
        """Return what the convolution of a block is told."""
        return replace(
            super().of_convolution(num_nodes),
            with_structure=self.with_structure,
            num_nodes=num_nodes,
            use_layer_norm=self.use_layer_norm,
        )


class ResidualNetwork(NodeClassifier):
    """Platonov et al. (2023), section 5: one backbone, and the convolution is a value."""

    card: ClassVar[Card] = Card(
        does="A deep stack of blocks (norm, convolution, perceptron), each added to its input.",
        paper="Platonov et al. 2023, A Critical Look at the Evaluation of GNNs, section 5",
        cost="O(nnz(X) H + L (E H + N H²))",
        acm="`res-acm`, `res-acmii`; `+`: also with the structure channel",
        departs="`res-fagcn`, `res-acm` and its variants are ours; attention adds a shared bias",
    )

    def __init__(
        self, options: ResidualOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        hidden, norm = options.hidden, NORMS[options.norm]
        told = options.of_convolution(num_nodes)

        def make_block() -> ResidualBlock:
            convolution = make_convolution(options.convolution, hidden, told)
            inner = FeedForward(
                convolution.width, options.expansion * hidden, hidden, dropout=options.dropout
            )
            return ResidualBlock(norm(hidden), convolution, inner, dropout=options.dropout)

        self.backbone = Residual(
            num_features,
            hidden,
            num_classes,
            make_block,
            options.depth,
            norm,
            jump=options.jk,
            dropout=options.dropout,
            input_dropout=options.input_rate,
        )


class DirectedNetwork(ResidualNetwork):
    """The same backbone with convolutions along and against the edges (Rossi et al. 2023)."""

    card: ClassVar[Card] = Card(
        does="The blocks of `res-*` with one convolution along the edges and one against them.",
        paper="Rossi et al. 2023, Edge Directionality Improves Learning, Eqs. 3-4 (Dir-GNN)",
        cost="O(nnz(X) H + L (E H + N H²))",
        acm="`dir-acm` (ours)",
        departs="in residual blocks; the share α of a direction is part of its weight; on a graph "
        "without one-way edges they are `res-gcn`, `res-sage` and `res-acm`",
    )
