"""Epochs of the native engine, timed: shared by the benchmarks that call the engine itself."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from shared import Spent

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import Split, random_splits
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.run import run
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec
from heterophily.native.library import NativeLibrary
from heterophily.paper.presets import Recipe, recipe
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica


def first_split(graph: Graph) -> Split:
    """Return the first of the paper's random splits."""
    return random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]


@dataclass(frozen=True, eq=False)
class Network:
    """A network and what it is trained on."""

    network: torch.nn.Module
    inputs: GraphInputs
    graph: Graph
    split: Split
    config: TrainConfig

    @classmethod
    def of(cls, spec: ModelSpec, graph: Graph, split: Split, config: TrainConfig) -> Network:
        """Build the network of a model for a graph."""
        inputs = GraphInputs.from_graph(graph, spec.inputs)
        torch.manual_seed(0)
        network = spec.build(
            num_nodes=inputs.num_nodes,
            num_features=inputs.num_features,
            num_classes=graph.num_classes,
        )
        return cls(network, inputs, graph, split, config)


def published(model: str, dataset: str) -> tuple[Graph, Recipe]:
    """Return a dataset and the paper's settings; + and ++ have the structure channel everywhere."""
    chosen = recipe("paper", model, dataset, "random")
    if model.endswith("+"):
        structured = {"with_structure": True, "mix_scale": 1.0, "row_normalize": False}
        chosen = Recipe(chosen.graph, {**chosen.options, **structured}, chosen.config)
    return open_graph(dataset, **chosen.graph), chosen


def published_network(model: str, dataset: str) -> Network:
    """Return a network of the paper on the first split of a dataset."""
    graph, chosen = published(model, dataset)
    spec = MODELS[model].with_options(**chosen.options)
    return Network.of(spec, graph, first_split(graph), chosen.config)


class NativeEpochs:
    """One network in the engine, from the same start in every call."""

    def __init__(self, of: Network) -> None:
        self.of, self.config = of, of.config.replace(stopping="none")
        self.buffers = GraphBuffers(of.inputs, of.graph.labels, of.graph.num_classes)

    def spent(self, epochs: int, *, threads: int = 1, library: Any = None) -> Spent:
        """Return the time of one epoch: a run less one of a single epoch."""
        short, long = (self._run(number, threads, library) for number in (1, 1 + epochs))
        return long.less(short, by=epochs)

    def whole(self, epochs: int, *, threads: int = 1) -> Spent:
        """Return the time of a run of so many epochs, its start included."""
        return self._run(epochs, threads, None)

    def _run(self, epochs: int, threads: int, library: ctypes.CDLL | None) -> Spent:
        config = self.config.replace(max_epochs=epochs)
        task = Replica(lambda: self.of.network, self.of.split, config, 0)
        labels, how = self.of.graph.labels, {"keep_state": False, "threads": threads}
        with _in_place_of_ours(library):
            return Spent.on(lambda: run([task], self.buffers, labels, **how))


def _in_place_of_ours(library: ctypes.CDLL | None) -> Any:
    if library is None:
        return nullcontext()
    used = NativeLibrary(None, "named on the command line", library)
    return mock.patch("heterophily.engine.run.engine", return_value=used)
