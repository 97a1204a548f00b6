"""Predictions: label, probabilities and channel weights of every node."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from heterophily.data.atomic import write_text
from heterophily.data.encode import Encoder
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.errors import InputError, MissingExtraError
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.models.networks import NodeClassifier
from heterophily.prediction.calibration import tempered
from heterophily.prediction.fit_graph import check_graph
from heterophily.prediction.members import network_logits, softmax
from heterophily.prediction.model import Network, TrainedModel


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says about the nodes of a graph.

    Parameters
    ----------
    probabilities
        (N, C), calibrated, rows sum to 1.
    channel_weights
        (N, K): how much of each channel the last layer keeps at a node, mean over the members;
        None for models without adaptive mixing. Rows sum to 1.
    """

    node_ids: NDArray[Any]
    class_names: tuple[str, ...]
    probabilities: NDArray[np.float64]
    channel_names: tuple[str, ...] = ()
    channel_weights: NDArray[np.float64] | None = None

    @property
    def classes(self) -> NDArray[np.int64]:
        """Most probable class of each node, (N,)."""
        return np.asarray(self.probabilities.argmax(1))

    @property
    def labels(self) -> NDArray[Any]:
        """Name of the most probable class of each node, (N,)."""
        return np.array(self.class_names)[self.classes]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability of the predicted class, (N,)."""
        return np.asarray(self.probabilities.max(1))

    @property
    def header(self) -> list[str]:
        """Column names of the table."""
        channels = self.channel_names if self.channel_weights is not None else ()
        return [
            "node",
            "label",
            *(f"p({name})" for name in self.class_names),
            *(f"channel({name})" for name in channels),
        ]

    def rows(self) -> Iterator[list[str]]:
        """Iterate over the rows of the table."""
        values = self.probabilities
        if self.channel_weights is not None:
            values = np.concatenate([values, self.channel_weights], axis=1)
        named = zip(self.node_ids.tolist(), self.labels.tolist(), values, strict=True)
        for node, label, numbers in named:
            yield [str(node), str(label), *(f"{value:.6f}" for value in numbers)]

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame: node, label, ``p(class)`` of every class, ..."""
        if find_spec("pandas") is None:
            raise MissingExtraError(
                "to_frame needs pandas: pip install pandas; or use to_arrow, which does not"
            )
        return self.to_arrow().to_pandas()

    def to_arrow(self) -> Any:
        """Return the table as a pyarrow Table, which polars and pandas read."""
        import pyarrow as pa

        values = self.probabilities
        if self.channel_weights is not None:
            values = np.concatenate([values, self.channel_weights], axis=1)
        columns = [pa.array(self.node_ids), pa.array(self.labels), *map(pa.array, values.T)]
        return pa.table(columns, names=self.header)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table, whole or not at all."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(self.header)
        table.writerows(self.rows())
        write_text(path, text.getvalue())


def predict(model: TrainedModel, graph: GraphLike) -> Predictions:
    """Predict the label of every node, on the graph of the training or on another one.

    New nodes and edges are fine when no weight of the model belongs to a node; otherwise, and
    when features do not match, the error says why. Labels of the graph are not used. The graph may
    have any form that :func:`heterophily.as_graph` takes; tables are encoded as in training.
    """
    if isinstance(model, str | os.PathLike):
        raise InputError(f"{os.fspath(model)!r} is no model; pass load_model({os.fspath(model)!r})")
    graph = graph_for(model, graph)
    check_graph(model, graph)
    total = np.zeros((graph.num_nodes, len(model.class_names)))
    mixed = np.zeros((graph.num_nodes, len(model.channel_names)))
    mixing = 0
    for network, built, inputs in built_networks(model, graph):
        total += softmax(network_logits(built, inputs))
        weights = last_weights(network, built, inputs)
        if weights is not None:
            mixed[:, [model.channel_names.index(name) for name in network.channel_names]] += weights
            mixing += 1
    return Predictions(
        node_ids=graph.node_ids,
        class_names=model.class_names,
        probabilities=tempered(total / len(model.votes), model.temperature),
        channel_names=model.channel_names if mixing else (),
        channel_weights=mixed / mixing if mixing else None,
    )


def graph_for(model: TrainedModel, graph: GraphLike) -> Graph:
    """Return a graph in any form as a graph; tables are encoded as those of training were."""
    encoder = model.trained_on.encoder
    if encoder is None or not isinstance(graph, tuple | list):
        return as_graph(graph)
    known = Encoder.from_dict(encoder)
    return as_graph(graph, encoder=known, features=known.names)


def built_networks(
    model: TrainedModel, graph: Graph
) -> Iterator[tuple[Network, nn.Module, GraphInputs]]:
    """Yield every member as its network, the built module and the prepared graph."""
    sizes, scale = model.sizes(graph), model.trained_on.scale
    prepared: dict[InputOptions, GraphInputs] = {}
    for vote in model.votes:
        network = model.networks[vote.network]
        options = network.spec.inputs
        if options not in prepared:
            prepared[options] = GraphInputs.from_graph(graph, options, columns=scale)
        yield network, model.network(vote, sizes), prepared[options]


def last_weights(
    network: Network, built: nn.Module, inputs: GraphInputs
) -> NDArray[np.float64] | None:
    """Return the mixing weights (N, K) of the last layer, or None without adaptive mixing."""
    if not isinstance(built, NodeClassifier):
        return None
    layers = built.channel_weights(inputs)
    if not layers:
        return None
    return np.asarray(layers[-1].double().numpy())
