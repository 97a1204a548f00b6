"""Layers one after the other, with dropout, ReLU and the optional residual ``H_X`` between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from heterophily.layers.averaged_features import filtered_product
from heterophily.layers.channel_linear import Block, LayerInput
from heterophily.layers.dropout import dropout
from heterophily.layers.extraction import combined
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures


class Layer(Protocol):
    """What a backbone wires: ``layer(source, operator, structure) -> (N, H)``."""

    def __call__(
        self,
        source: LayerInput,
        operator: Any,
        structure: Propagation | None,
        *,
        weights: list[Tensor] | None,
    ) -> Tensor:
        """Map node features to node features."""
        ...


LayerFactory = Callable[..., nn.Module]  # (in_features, out_features, *, is_output) -> Layer


def drop(source: Block, rate: float, *, training: bool) -> Block:
    """Apply dropout to dense or sparse features."""
    if isinstance(source, SparseFeatures):
        return source.dropout(rate, training=training)
    return dropout(source, rate, training=training)


class Stack(nn.Module):
    r"""Layers of the given widths: dropout, layer, ReLU, dropout, layer, ..., logits.

    With ``residual="every-layer"`` (ACM-GCN++, appendix) each layer's output is

    .. math:: H^l = \text{ReLU}(\text{layer}_l(H^{l-1})) + H_X, \qquad H_X = \text{ReLU}(X W_X)

    where the hidden layers share :math:`W_X` and the logits (no outer ReLU) have their own. With
    ``"once"``, the released code, the second layer sees
    :math:`\text{Dropout}(H^1) + \text{Dropout}(H_X)`. ``operator_of`` says what of the inputs the
    layers get: by default Â. Where the inputs bring averages ÂX of their own, dropout of the input
    falls on X alone: the mean over neighbours of a dropped X is nearly that of X.
    """

    def __init__(
        self,
        widths: Sequence[int],
        make_layer: LayerFactory,
        *,
        dropout: float,
        input_dropout: float,
        output_relu: bool = False,
        residual: str = "none",
        make_residual: Callable[[int, int], FeatureLinear] = FeatureLinear,
        operator_of: Callable[[GraphInputs], Any] = attrgetter("operator"),
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = dropout, input_dropout
        self.output_relu, self.residual = output_relu, residual
        self.operator_of = operator_of
        pairs = list(pairwise(widths))
        self.layers = nn.ModuleList(
            make_layer(before, after, is_output=place == len(pairs))
            for place, (before, after) in enumerate(pairs, start=1)
        )
        self.hidden_residual = self.output_residual = None
        if residual != "none" and len(pairs) > 1:
            self.hidden_residual = make_residual(widths[0], widths[1])
        if residual == "every-layer":
            self.output_residual = make_residual(widths[0], widths[-1])

    def forward(self, inputs: GraphInputs, *, weights: list[Tensor] | None = None) -> Tensor:
        """Return the logits (N, C)."""
        features = drop(inputs.features, self.input_dropout, training=self.training)
        shared = (
            None if self.hidden_residual is None else torch.relu(self.hidden_residual(features))
        )
        state: Block = features
        output: Tensor
        last, begin = len(self.layers) - 1, 0
        for place, layer in enumerate(self.layers):
            if place == 0 and inputs.averages is not None:  # known exactly: no step is needed
                blocks = {"own": features, "low-1": inputs.averages}
                begin, output = 1, self._first(blocks, weights)
            else:
                here = inputs.at(place - begin)
                mixed = layer(state, self.operator_of(here), here.structure, weights=weights)
                output = here.kept(mixed)
            if place < last:
                if not getattr(layer, "is_nonnegative", False):
                    output = torch.relu(output)
                state = self._hidden(output, shared, is_first=place == 0)
        if self.output_relu:
            output = torch.relu(output)
        if self.output_residual is not None:
            own = torch.relu(self.output_residual(features))
            output = output + own[: output.shape[0]]
        return output

    @property
    def first_channels(self) -> tuple[str, ...] | None:
        """The channels of X that the first layer sees a node through; None if it must see edges.

        Names of :class:`~heterophily.channels.recipe.ChannelName`: the first layer filters X, so
        that its filters can be applied once and for all.
        """
        first: Any = self.layers[0]
        channels = getattr(first, "channels", None)
        if channels is None or any(channel.source == "structure" for channel in channels):
            return None
        is_filtered = any(channel.filter.aggregate for channel in channels)
        if is_filtered and first.activate and first.order != "filter-then-activate":
            return None
        hops = sorted({channel.hops for channel in channels if channel.filter.aggregate})
        return ("own", *(f"low-{count}" for count in hops))

    @property
    def row_channels(self) -> tuple[str, ...] | None:
        """The :attr:`first_channels`, if no later layer filters again; else None."""
        _, *later = [getattr(layer, "channels", None) for layer in self.layers]
        if any(each is None or any(c.filter.aggregate for c in each) for each in later):
            return None
        return self.first_channels

    def _first(
        self,
        blocks: Mapping[str, Any],
        weights: list[Tensor] | None,
        *,
        dropout_of_channels: float = 0.0,
    ) -> Tensor:
        """Return the output of the first layer, (n, H), from X and its averages, (n, F) each.

        Dropout falls on the filtered features. Sparse ones are not added up: their products with
        the weight are, and dropout falls on each of them.
        """
        first: Any = self.layers[0]
        names = [f"low-{c.hops}" if c.filter.aggregate else "own" for c in first.channels]
        rate, training = dropout_of_channels, self.training
        if all(isinstance(block, Tensor) for block in blocks.values()):
            channels = [
                dropout(
                    combined(channel.filter, blocks["own"], blocks[name]), rate, training=training
                )
                for channel, name in zip(first.channels, names, strict=True)
            ]
            return _mixed(first, channels, weights)
        if rate:
            blocks = {k: drop(block, rate, training=training) for k, block in blocks.items()}
        parts = zip(first.channels, names, first.weight, strict=True)
        return _mixture(
            first,
            [filtered_product(c.filter, blocks["own"], blocks[name], w) for c, name, w in parts],
            weights,
        )

    def on_rows(
        self, blocks: Mapping[str, Block], *, weights: list[Tensor] | None = None
    ) -> Tensor:
        """Return the logits (n, C) of some nodes from their :attr:`row_channels`, (n, F) each.

        The same function as :meth:`forward`. Dropout of the input falls on the filtered features
        instead of on X.
        """
        rate, training = self.input_dropout, self.training
        _, *later = list[Any](self.layers)
        output = self._first(blocks, weights, dropout_of_channels=rate)
        residuals = (self.hidden_residual, self.output_residual)
        features = None
        if any(residual is not None for residual in residuals):
            features = drop(blocks["own"], rate, training=training)
        shared = (
            None if self.hidden_residual is None else torch.relu(self.hidden_residual(features))
        )
        for place, layer in enumerate(later):  # none of them aggregates
            state = self._hidden(torch.relu(output), shared, is_first=place == 0)
            channels = [combined(channel.filter, state, state) for channel in layer.channels]
            output = _mixed(layer, channels, weights)
        if self.output_relu:
            output = torch.relu(output)
        if self.output_residual is not None:
            output = output + torch.relu(self.output_residual(features))
        return output

    def _hidden(self, output: Tensor, shared: Tensor | None, *, is_first: bool) -> Tensor:
        """Add the residual to a hidden layer's output and apply dropout."""
        rate, training = self.dropout, self.training
        if shared is not None:
            shared = shared[: output.shape[0]]
        if shared is None or (self.residual == "once" and not is_first):
            return dropout(output, rate, training=training)
        if self.residual == "once":
            kept = dropout(output, rate, training=training)
            return kept + dropout(shared, rate, training=training)
        return dropout(output + shared, rate, training=training)


def _mixed(layer: Any, channels: Sequence[Tensor], weights: list[Tensor] | None) -> Tensor:
    """Map the filtered channels of a layer and mix them, (n, H)."""
    signals = [channel @ weight for channel, weight in zip(channels, layer.weight, strict=True)]
    return _mixture(layer, signals, weights)


def _mixture(layer: Any, signals: Sequence[Tensor], weights: list[Tensor] | None) -> Tensor:
    """Activate the mapped channels of a layer and mix them, (n, H)."""
    found: Tensor = layer.mixer(
        [torch.relu(signal) if layer.activate else signal for signal in signals], weights
    )
    return found
