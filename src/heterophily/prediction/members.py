"""Trained replicas and their votes: the members of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.models.spec import ModelSpec
from heterophily.prediction.candidates import Candidate
from heterophily.training.replicas import Replica, fit_replicas
from heterophily.training.seeding import replica_seed, reproducible

_CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Sizes:
    """What a network is built for."""

    num_nodes: int
    num_features: int
    num_classes: int

    def build(self, spec: ModelSpec) -> nn.Module:
        """Build a network of these sizes; torch's generator is left as it was."""
        with reproducible(0, _CPU):
            return spec.build(
                num_nodes=self.num_nodes,
                num_features=self.num_features,
                num_classes=self.num_classes,
            )


@dataclass(frozen=True, eq=False)
class Member:
    """One trained replica: what it is, the split and the seed it had, its parameters.

    ``probabilities`` (N, C) are those of the graph it was trained on, in float64.
    """

    candidate: Candidate
    split: int
    seed: int
    state: Mapping[str, Tensor]
    probabilities: NDArray[np.float64]
    epochs: int


@torch.no_grad()
def network_logits(network: nn.Module, inputs: GraphInputs) -> Tensor:
    """Return the logits (N, C) without dropout, on one thread: the same bits every time."""
    network.eval()
    with reproducible(0, _CPU):
        logits: Tensor = network(inputs)
    return logits


def softmax(logits: Tensor, *, temperature: float = 1.0) -> NDArray[np.float64]:
    """Return probabilities in float64.

    >>> softmax(torch.zeros(1, 2))
    array([[0.5, 0.5]])
    """
    return np.asarray(torch.softmax(logits.double() / temperature, dim=1).numpy())


Task = tuple[Candidate, int, int]
"""Candidate, number of the split, number of the seed."""


class Bench:
    """Trains candidates on the splits of one graph; the prepared graph is shared.

    The seed of a replica follows from (seed, split, number), so that a member does not depend on
    what else was trained.
    """

    def __init__(
        self,
        graph: Graph,
        splits: SplitBatch,
        *,
        seed: int = 0,
        workers: int | None = None,
        engine: str = "auto",
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.graph, self.splits = graph, splits
        self.seed, self.workers, self.engine = seed, workers, engine
        self.config = dict(config or {})
        self.notes: dict[str, None] = {}  # in order, each once
        self.trained = 0
        self._inputs: dict[InputOptions, GraphInputs] = {}

    def on(self, splits: SplitBatch) -> Bench:
        """Return a bench with other splits of the same graph; prepared inputs are shared."""
        other = Bench(
            self.graph,
            splits,
            seed=self.seed,
            workers=self.workers,
            engine=self.engine,
            config=self.config,
        )
        other.notes, other._inputs = self.notes, self._inputs
        return other

    def inputs(self, options: InputOptions) -> GraphInputs:
        """Return the graph as tensors, prepared once for each kind of input."""
        options = options.on(self.graph)
        if options not in self._inputs:
            found = GraphInputs.from_graph(self.graph, options)
            self.notes.update(dict.fromkeys(found.remarks))
            self._inputs[options] = found
        return self._inputs[options]

    def sizes(self, inputs: GraphInputs) -> Sizes:
        """Return the sizes of networks on this graph."""
        return Sizes(inputs.num_nodes, inputs.num_features, self.graph.num_classes)

    def train(self, tasks: Sequence[Task]) -> dict[Task, Member | None]:
        """Train tasks; None stands for a replica whose first epoch diverged.

        Ctrl-C raises ``KeyboardInterrupt``; members of this call are then lost, so call it with
        few tasks at a time.
        """
        found: dict[Task, Member | None] = {}
        groups: dict[InputOptions, list[Task]] = {}
        for task in tasks:
            groups.setdefault(task[0].spec.inputs, []).append(task)
        for options, group in groups.items():
            inputs = self.inputs(options)
            sizes = self.sizes(inputs)
            results = fit_replicas(
                [self._replica(task, sizes) for task in group],
                inputs,
                self.graph.labels,
                workers=self.workers,
                engine=self.engine,
            )
            if results.interrupted:
                raise KeyboardInterrupt
            if results.failures:
                raise InputError(next(iter(results.failures.values())))
            if results.engine_note:
                self.notes[results.engine_note] = None
            for place, task in enumerate(group):
                result = results.by_replica[place]
                found[task] = None
                if result.state is not None and result.probabilities is not None:
                    found[task] = Member(*task, result.state, result.probabilities, result.epochs)
            self.trained += len(group)
        return found

    def _replica(self, task: Task, sizes: Sizes) -> Replica:
        candidate, split, number = task
        build = partial(candidate.spec.build, **asdict(sizes))
        seed = replica_seed(self.seed, split + len(self.splits) * number)
        config = candidate.config.replace(**self.config)
        return Replica(build, self.splits[split], config, seed)
