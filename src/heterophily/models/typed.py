"""ACM on typed edges: every type of edges has a low and a high pass of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import nn

from heterophily.errors import InputError
from heterophily.layers.channel import PAPER_CHANNELS
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.layers.typed_acm_layer import TypedAcmLayer, typed_channels
from heterophily.models.backbones.stack import Stack
from heterophily.models.baseline import Card
from heterophily.models.networks import NodeClassifier
from heterophily.models.options import StackOptions


@dataclass(frozen=True, kw_only=True)
class TypedOptions(StackOptions):
    """ACM-GCN with channels per type of edges.

    Parameters
    ----------
    edge_types
        Names of the types; None: those of the graph. Without types all edges are of one.
    """

    edge_types: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        if self.edge_types is not None:
            object.__setattr__(self, "edge_types", tuple(self.edge_types))
        if self.channels != PAPER_CHANNELS or self.with_structure:
            raise InputError(
                "typed channels are low and high pass of every type and the identity; leave "
                "channels and with_structure as they are"
            )

    @property
    def layer_channels(self) -> tuple[str, ...]:
        """The channels of each layer."""
        return typed_channels(self.edge_types or ())

    def make_typed_layer(
        self, in_features: int, out_features: int, *, is_output: bool
    ) -> TypedAcmLayer:
        """Build one layer."""
        mixer: nn.Module = self.make_mixer(out_features)
        return TypedAcmLayer(
            in_features,
            out_features,
            len(self.edge_types or ("all",)),
            mixer,
            order=self.order,
            activate=self.activate_output if is_output else True,
            initialization=self.initialization,
        )


class TypedNetwork(NodeClassifier):
    """ACM-GCN whose low and high pass exist once for every type of edges."""

    card: ClassVar[Card] = Card(
        does="ACM-GCN with a low-pass and a high-pass channel for each type of edges.",
        paper="Luan et al. 2022, Revisiting Heterophily for GNNs, section 4.2, once per type",
        cost="O(R nnz(X) H + E H), R types",
        acm="is one",
        departs="the channels per type are ours; with one type, or none, exactly `acm-gcn`",
    )

    def __init__(
        self, options: TypedOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.backbone = Stack(
            [num_features, *[options.hidden] * (options.depth - 1), num_classes],
            options.make_typed_layer,
            dropout=options.dropout,
            input_dropout=options.input_rate,
            output_relu=options.output_relu,
            residual=options.residual,
            make_residual=partial(
                FeatureLinear, bias=options.residual_bias, initialization=options.initialization
            ),
            operator_of=_typed if options.edge_types else _untyped,
        )


def _typed(inputs: GraphInputs) -> Sequence[Propagation]:
    """Return Â of each type."""
    return inputs.typed


def _untyped(inputs: GraphInputs) -> Sequence[Propagation]:
    """Return Â of all edges: one type."""
    return (inputs.operator,)
