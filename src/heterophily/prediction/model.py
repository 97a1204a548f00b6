"""A trained model as a value: networks, the parameters of its members, what it was trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor, nn

from heterophily.channels.columns import FeaturePanels, scale_of
from heterophily.channels.rows import AnyGraph
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.channel import CHANNELS, Channel
from heterophily.layers.feature_scaling import ColumnScale
from heterophily.models.spec import ModelSpec
from heterophily.prediction.members import Sizes
from heterophily.runs.model import option_values, spec_with

_PROBE = Sizes(num_nodes=29, num_features=11, num_classes=3)


@dataclass(frozen=True, eq=False)
class Network:
    """A model of the table, the options that differ from it, and how it was trained.

    ``features`` and the types of edges are among the options, so that every graph is seen as that
    of training was.
    """

    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def on(
        cls, graph: Graph, model: str, options: Mapping[str, Any], config: Mapping[str, Any]
    ) -> Network:
        """Return a network as it is trained on a graph, which decides what features are."""
        inputs = spec_with(model, options).inputs.on(graph)
        decided: dict[str, Any] = {"features": inputs.features}
        if inputs.edge_types:
            decided["edge_types"] = inputs.edge_types
        return cls(model, {**options, **decided}, config)

    @cached_property
    def spec(self) -> ModelSpec:
        """The model as a value."""
        return spec_with(self.model, self.options)

    @property
    def resolved(self) -> dict[str, Any]:
        """Every option, as plain data."""
        return option_values(self.spec)

    @property
    def channel_names(self) -> tuple[str, ...]:
        """Names of the channels that each layer mixes; empty when the model has none."""
        channels = getattr(self.spec.options, "layer_channels", ())
        return tuple(
            channel if isinstance(channel, str) else _name(channel) for channel in channels
        )

    @cached_property
    def node_weights(self) -> tuple[str, ...]:
        """Names of the parameters that have one row per node: found by building twice."""
        larger = Sizes(_PROBE.num_nodes + 1, _PROBE.num_features, _PROBE.num_classes)
        shapes, others = (
            {name: value.shape for name, value in sizes.build(self.spec).state_dict().items()}
            for sizes in (_PROBE, larger)
        )
        return tuple(name for name in shapes if shapes[name] != others[name])


def _name(channel: Channel) -> str:
    """Name a channel by its filter, with the number of hops when there are several."""
    for name, known in CHANNELS.items():
        if (known.filter, known.source) == (channel.filter, channel.source):
            return name if channel.hops == 1 else f"{name}-{channel.hops}"
    return f"{channel.filter.identity}I{channel.filter.aggregate:+}A"


@dataclass(frozen=True, eq=False)
class Vote:
    """The parameters of one member: number of its network, split, seed, state."""

    network: int
    state: Mapping[str, Tensor]
    split: int = 0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class GraphFacts:
    """What a graph must have in common with the one a model was trained on."""

    name: str
    content_hash: str
    num_nodes: int
    num_edges: int
    num_features: int  # 0: every node had its own indicator feature
    feature_names: tuple[str, ...] | None
    is_directed: bool
    node_ids: str  # hash of the ids in their order
    encoder: Mapping[str, Any] | None = None  # plain data: how a table became features
    columns: Mapping[str, Any] | None = None  # plain data: mean and deviation of numbers

    @classmethod
    def of(cls, graph: AnyGraph, networks: Sequence[Network]) -> GraphFacts:
        """Note the facts of a graph on which networks were trained.

        Means and deviations of the columns are kept where a network sees features scaled by them.
        """
        is_scaled = any(network.spec.inputs.features == "numbers" for network in networks)
        if isinstance(graph, DiskGraph):
            scale = scale_of(FeaturePanels(graph), "numbers", row_normalize=False)
            return cls(
                name=graph.name,
                content_hash=graph.content_hash,
                num_nodes=graph.num_nodes,
                num_edges=graph.num_edges,
                num_features=graph.num_features,
                feature_names=graph.feature_names,
                is_directed=graph.is_directed,
                node_ids=graph.content_hash[:32],
                columns=scale.columns if is_scaled else None,
            )
        return cls(
            name=graph.name,
            content_hash=graph.content_hash,
            num_nodes=graph.num_nodes,
            num_edges=graph.num_edges,
            num_features=graph.num_features,
            feature_names=column_names(graph),
            is_directed=graph.is_directed,
            node_ids=ids_digest(graph),
            encoder=None if graph.encoder is None else graph.encoder.to_dict(),
            columns=ColumnScale.fit(graph.features).to_dict() if is_scaled else None,
        )

    @property
    def scale(self) -> ColumnScale | None:
        """How the columns of another graph are scaled: as those of training."""
        return None if self.columns is None else ColumnScale.from_dict(self.columns)


def column_names(graph: Graph) -> tuple[str, ...] | None:
    """Return the names of the columns that the features were made of; None if they have none."""
    return graph.feature_names if graph.encoder is None else graph.encoder.names


def ids_digest(graph: Graph) -> str:
    """Return a hash of the node ids in their order."""
    text = "\n".join(map(str, graph.node_ids.tolist()))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """An ensemble (of one or more members) that predicts; probabilities are averaged.

    Parameters
    ----------
    networks, votes
        The networks, and the members, each with parameters for one of them.
    class_names
        Name of each class, in the order of the probabilities.
    trained_on
        The graph, as far as another one must be like it.
    temperature
        Of the calibration; 1 leaves the averaged probabilities as they are.
    card
        Whatever else is worth keeping: metrics, splits, command, ... as plain data.
    """

    networks: tuple[Network, ...]
    votes: tuple[Vote, ...]
    class_names: tuple[str, ...]
    trained_on: GraphFacts
    temperature: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The models that vote, in words."""
        return ", ".join(dict.fromkeys(network.model for network in self.networks))

    @property
    def channel_names(self) -> tuple[str, ...]:
        """All channels of all networks, in order of appearance."""
        names = (name for network in self.networks for name in network.channel_names)
        return tuple(dict.fromkeys(names))

    @property
    def why_not_inductive(self) -> str | None:
        """Why the model is bound to the nodes it was trained on; None when it is not."""
        if self.trained_on.num_features == 0:
            return "the graph had no features, so every node has a weight of its own"
        for network in self.networks:
            if network.node_weights:
                return f"{network.model} has a weight for every node ({network.node_weights[0]})"
        return None

    def sizes(self, graph: Graph) -> Sizes:
        """Return the sizes of the networks on a graph."""
        features = self.trained_on.num_features or self.trained_on.num_nodes
        return Sizes(graph.num_nodes, features, len(self.class_names))

    def network(self, vote: Vote, sizes: Sizes) -> nn.Module:
        """Build the network of a member with its parameters."""
        built = sizes.build(self.networks[vote.network].spec)
        try:
            built.load_state_dict(dict(vote.state))
        except RuntimeError as error:
            raise InputError(
                f"the weights do not fit {self.networks[vote.network].model} of this version; "
                "use the version of heterophily that wrote them, or train again"
            ) from error
        return built
