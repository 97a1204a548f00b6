"""Twins: the same run in torch, with the engine's dropout masks, and in the native engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from engine.counter import CounterDropout
from torch import Tensor, nn

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.engine.run import run
from heterophily.layers.inputs import GraphInputs
from heterophily.learning.result import FitResult
from heterophily.learning.seeding import reproducible
from heterophily.models.catalog import MODELS
from heterophily.native.library import engine
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch
from heterophily.training.replica import Replica


@pytest.fixture(autouse=True)
def _needs_engine() -> None:
    if engine().library is None:
        pytest.skip(f"no native engine: {engine().reason}")


@dataclass
class Problem:
    """A model on a graph with one split."""

    graph: Graph
    inputs: GraphInputs
    build: Callable[[], nn.Module]
    split: Split
    config: TrainConfig
    seed: int = 3

    @property
    def task(self) -> Replica:
        return Replica(self.build, self.split, self.config, self.seed)

    def native(self, **how: Any) -> FitResult:
        return run([self.task], self.inputs, self.graph.labels, **how).results[0]

    def torch(self, epochs: int, at: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, Tensor]]:
        """Return training losses, validation losses and the parameters after epoch ``at``."""
        state: dict[str, Tensor] = {}
        train, validation = [], []
        with reproducible(self.seed, torch.device("cpu")), CounterDropout(self.seed) as masks:
            model = self.build()
            batch = FullBatch(model, self.inputs, self.graph.labels, self.split, self.config)
            for epoch in range(1, epochs + 1):
                masks.begin(epoch)
                train.append(batch.step())
                validation.append(batch.evaluate()[0].loss)
                if epoch == at:
                    state = {name: v.detach().clone() for name, v in model.state_dict().items()}
        return np.array(train), np.array(validation), state


def thirds(graph: Graph) -> Split:
    """Every third labelled node each."""
    place = np.arange(graph.num_nodes) % 3
    known = graph.labels >= 0
    return Split(known & (place == 0), known & (place == 1), known & (place == 2))


def random_graph(
    *, nodes: int = 38, features: int = 19, classes: int = 4, density: float = 0.2, seed: int = 0
) -> Graph:
    """Random edges with an isolated node, twins, and features with empty rows."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, 3 * nodes))
    keep = (source != target) & (source != nodes - 1) & (target != nodes - 1)
    x = rng.random((nodes, features)) * (rng.random((nodes, features)) < density)
    x[nodes // 2] = 0.0
    labels = np.arange(nodes) % classes
    return Graph.from_edges(
        source[keep], target[keep], labels=labels, features=sp.csr_array(x), num_nodes=nodes
    )


def graph_of_twins(half: int = 90) -> Graph:
    """Every node has the neighbours of another one, as many have in chameleon and squirrel."""
    source, target = random_graph(nodes=half).adjacency.tocoo().coords
    places = [(a, b) for a in (0, half) for b in (0, half)]
    return Graph.from_edges(
        np.concatenate([source + a for a, _ in places]),
        np.concatenate([target + b for _, b in places]),
        labels=np.arange(2 * half) % 5,
        features=random_graph(nodes=2 * half, features=120, density=0.1).features,
        num_nodes=2 * half,
    )


@pytest.fixture
def make_graph() -> Callable[..., Graph]:
    """Return the maker of random graphs."""
    return random_graph


def made_problem(
    model: str,
    graph: Graph | None = None,
    *,
    dtype: torch.dtype = torch.float64,
    config: TrainConfig | None = None,
    epochs: int = 60,
    **options: Any,
) -> Problem:
    """Return a problem without early stopping."""
    graph = graph or random_graph()
    spec = MODELS[model].with_options(**options)
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=dtype)

    def build() -> nn.Module:
        sizes = {"num_nodes": inputs.num_nodes, "num_features": inputs.num_features}
        return spec.build(**sizes, num_classes=graph.num_classes).to(dtype)

    config = (config or TrainConfig()).replace(max_epochs=epochs, stopping="none")
    return Problem(graph, inputs, build, thirds(graph), config)


@pytest.fixture
def problem() -> Callable[..., Problem]:
    """Return the maker of problems."""
    return made_problem


@pytest.fixture
def assert_twins() -> Callable[..., None]:
    """Return a check that both engines give the same losses and parameters."""

    def check(problem: Problem, *, tolerance: float = 1e-9) -> None:
        native = problem.native()
        train, validation, state = problem.torch(native.epochs, native.best_epoch)
        np.testing.assert_allclose(native.history.train_loss, train, rtol=tolerance)
        np.testing.assert_allclose(native.history.validation_loss, validation, rtol=tolerance)
        assert native.state is not None
        assert native.state.keys() == state.keys()
        for name, value in state.items():
            np.testing.assert_allclose(
                native.state[name], value, rtol=0, atol=1000 * tolerance, err_msg=name
            )

    return check
