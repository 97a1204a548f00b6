"""Why a node got its label: channels, residual, neighbours, homophily, in numbers and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heterophily.data.checks import UNLABELLED
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike
from heterophily.data.wording import short
from heterophily.errors import InputError
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.prediction.contributions import contributions
from heterophily.prediction.feature_shares import FeatureShare, feature_shares
from heterophily.prediction.model import TrainedModel
from heterophily.prediction.predict import Predictions, built_networks, graph_for, predict

SHOWN = 10
"""So many neighbours are listed; all of them are counted."""

CHANNEL_WORDS = {
    "low": "the mean over its neighbours",
    "high": "its difference to its neighbours",
    "low-reversed": "the mean over the nodes that point to it",
    "high-reversed": "its difference to the nodes that point to it",
    "identity": "its own features",
    "structure": "which nodes it is linked to",
}
RESIDUAL = "residual"
"""The name of the part that ACM-GCN++ adds to the logits after the mixture."""


@dataclass(frozen=True)
class ChannelShare:
    """One part of the logits of a node: a channel, or the residual.

    ``weight`` is its share in the last layer, ``class_weight`` the mean share among nodes of the
    same predicted class; the residual is not weighted. ``favours`` is the class it votes for by
    itself. ``margin`` is the lead of the predicted class over the next one (in logits); what all
    parts ``add`` to it sums up to it. ``margin_without`` is the lead when the part is switched off;
    negative: the label would change.
    """

    name: str
    weight: float | None
    class_weight: float | None
    favours: str | None
    margin: float | None
    adds: float | None
    margin_without: float | None


@dataclass(frozen=True)
class Neighbour:
    """A neighbour: its id, its known label if there is one, and its predicted label."""

    node: str
    label: str | None
    predicted: str
    probability: float


@dataclass(frozen=True)
class Explanation:
    """Everything that is said about one node."""

    node: str
    predicted: str
    known: str | None
    probability: float
    second: str
    second_probability: float
    channels: tuple[ChannelShare, ...]
    residual: ChannelShare | None
    num_neighbours: int
    neighbours: tuple[Neighbour, ...]
    neighbour_labels: Mapping[str, int]
    neighbour_predictions: Mapping[str, int]
    local_homophily: float | None
    class_homophily: float | None
    features: tuple[FeatureShare, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @property
    def decisive(self) -> ChannelShare | None:
        """The part, channel or residual, without which the lead of the label is smallest."""
        known = [share for share in self.parts if share.margin_without is not None]
        return min(known, key=lambda share: share.margin_without or 0.0) if known else None

    @property
    def parts(self) -> tuple[ChannelShare, ...]:
        """The channels, and the residual where the model has one."""
        return self.channels if self.residual is None else (*self.channels, self.residual)

    def __str__(self) -> str:
        """Return the explanation in words."""
        from heterophily.prediction.explain_text import as_text

        return as_text(self)


def explain(
    model: TrainedModel,
    graph: GraphLike,
    node: str | int,
) -> Explanation:
    """Say why a node got its label.

    Margins are of logits averaged over the members; the label and its probability are those of
    :func:`~heterophily.prediction.predict.predict`. Homophily counts neighbours with known labels
    and compares with the node's known label, or with the predicted one.
    """
    graph = graph_for(model, graph)
    place = find_node(graph, node)
    found = predict(model, graph)
    order = np.argsort(-found.probabilities[place], kind="stable")
    best, second = int(order[0]), int(order[1])
    neighbours = _neighbours(graph, place)
    homophily, of_class = _homophily(model, graph, place, best)
    channels, residual = _parts(model, graph, found, place, best)
    return Explanation(
        node=str(graph.node_ids[place]),
        predicted=model.class_names[best],
        known=_known(graph, place),
        probability=float(found.probabilities[place, best]),
        second=model.class_names[second],
        second_probability=float(found.probabilities[place, second]),
        channels=channels,
        residual=residual,
        num_neighbours=len(neighbours),
        neighbours=tuple(_neighbour(graph, found, other) for other in neighbours[:SHOWN]),
        neighbour_labels=_counts(_known(graph, other) for other in neighbours),
        neighbour_predictions=_counts(found.labels[neighbours].tolist()),
        local_homophily=homophily,
        class_homophily=of_class,
        features=feature_shares(model),
    )


def find_node(graph: Graph, node: str | int) -> int:
    """Return the place of a node id; an unknown one is refused with an example."""
    places = np.flatnonzero(graph.node_ids.astype(str) == str(node))
    if places.size == 0:
        example = short(graph.node_ids[0]) if graph.num_nodes else "none"
        raise InputError(f"{graph.name} has no node {short(node)}; ids look like {example}")
    return int(places[0])


def _known(graph: Graph, place: int) -> str | None:
    label = int(graph.labels[place])
    return None if label == UNLABELLED else graph.class_names[label]


def _neighbours(graph: Graph, place: int) -> list[int]:
    """Return the neighbours, the heaviest edges first, without the node itself."""
    start, end = graph.adjacency.indptr[place : place + 2]
    nodes, weights = graph.adjacency.indices[start:end], graph.adjacency.data[start:end]
    ordered = nodes[np.argsort(-weights, kind="stable")].tolist()
    return [other for other in ordered if other != place]


def _neighbour(graph: Graph, found: Predictions, place: int) -> Neighbour:
    return Neighbour(
        node=str(graph.node_ids[place]),
        label=_known(graph, place),
        predicted=str(found.labels[place]),
        probability=float(found.confidence[place]),
    )


def _counts(names: Any) -> dict[str, int]:
    """Count names, the most frequent first; unknown ones are left out."""
    counts: dict[str, int] = {}
    for name in names:
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def _homophily(
    model: TrainedModel, graph: Graph, place: int, best: int
) -> tuple[float | None, float | None]:
    """Return the share of like neighbours, and its mean over the known nodes of that class."""
    label = _known(graph, place) or model.class_names[best]
    if label not in graph.class_names:
        return None, None
    code = graph.class_names.index(label)
    others = graph.replace(splits=None)
    mean = None
    of_class = node_homophily_values(others)[graph.labels == code]
    if np.isfinite(of_class).any():
        mean = float(np.nanmean(of_class))
    labels = [int(graph.labels[other]) for other in _neighbours(graph, place)]
    known = [value for value in labels if value != UNLABELLED]
    local = sum(value == code for value in known) / len(known) if known else None
    return local, mean


def _parts(
    model: TrainedModel, graph: Graph, found: Predictions, place: int, best: int
) -> tuple[tuple[ChannelShare, ...], ChannelShare | None]:
    """Return the channels, and the residual if a member adds one."""
    names = model.channel_names
    if len(names) < 2:
        return (), None
    parts = np.zeros((len(names) + 1, len(model.class_names)))  # the last row is the residual
    logits = np.zeros(len(model.class_names))
    is_whole, has_residual = True, False
    for network, built, inputs in built_networks(model, graph):
        taken_apart = contributions(network, built, inputs, place)
        if taken_apart is None:
            is_whole = False
            continue
        logits += taken_apart.logits / len(model.votes)
        rows = [names.index(name) for name in network.channel_names]
        parts[rows] += taken_apart.by_channel / len(model.votes)
        if taken_apart.residual is not None:
            has_residual = True
            parts[-1] += taken_apart.residual / len(model.votes)
    alike = found.classes == best
    others = np.delete(np.arange(len(logits)), best)
    second = others[logits[others].argmax()]

    def share(row: int, name: str, weights: Any) -> ChannelShare:
        part = parts[row]
        return ChannelShare(
            name=name,
            weight=None if weights is None else float(weights[place]),
            class_weight=None if weights is None else float(weights[alike].mean()),
            favours=model.class_names[int(part.argmax())] if is_whole else None,
            margin=_margin(logits, best) if is_whole else None,
            adds=float(part[best] - part[second]) if is_whole else None,
            margin_without=_margin(logits - part, best) if is_whole else None,
        )

    columns = [None] * len(names) if found.channel_weights is None else found.channel_weights.T
    pairs = zip(names, columns, strict=True)
    channels = tuple(share(row, name, weights) for row, (name, weights) in enumerate(pairs))
    return channels, share(-1, RESIDUAL, None) if has_residual else None


def _margin(logits: Any, best: int) -> float:
    """Return the lead of a class over the strongest other one."""
    return float(logits[best] - np.delete(logits, best).max())
