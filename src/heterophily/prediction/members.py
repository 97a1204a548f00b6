"""Trained replicas and their votes: the members of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch
from heterophily.errors import HeterophilyError
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.learning.result import FitResult
from heterophily.learning.seeding import replica_seed, reproducible
from heterophily.models.spec import ModelSpec
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.time_spent import TimeSpent
from heterophily.runs.artefacts import artefacts_of
from heterophily.runs.complete import complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import this_machine
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore

KINDS = ("logits", "state")
"""What a training leaves for the vote and for the model folder."""

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


class Member:
    """One trained replica: what it is, the split and the seed it had, what its training left.

    Parameters
    ----------
    state
        Parameters; None: they are read when they are asked for, from what was ``kept``.
    probabilities
        (N, C) of the graph it was trained on, in float64; None: as for the state.
    epochs
        Number of epochs trained.
    validation
        Validation scores by name, from the record.
    seconds
        What the training took of the time of the search.
    kept
        What the training left beside its record.
    """

    def __init__(
        self,
        candidate: Candidate,
        split: int,
        seed: int,
        state: Mapping[str, Tensor] | None,
        probabilities: NDArray[np.float64] | None,
        epochs: int,
        *,
        validation: Mapping[str, float | None] | None = None,
        seconds: float = 0.0,
        kept: KeptTraining | None = None,
    ) -> None:
        self.candidate, self.split, self.seed, self.epochs = candidate, split, seed, epochs
        self.validation: Mapping[str, float | None] = validation or {}
        self.seconds = seconds
        self._state, self._probabilities, self._kept = state, probabilities, kept

    @property
    def state(self) -> Mapping[str, Tensor]:
        """Parameters of the best epoch."""
        if self._state is None:
            self.load()
        assert self._state is not None
        return self._state

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(N, C) probabilities of the classes at the best epoch."""
        if self._probabilities is None:
            self.load()
        assert self._probabilities is not None
        return self._probabilities

    def load(self) -> None:
        """Read parameters and probabilities, if they were not read yet."""
        if self._kept is not None and (self._state is None or self._probabilities is None):
            result = self._kept.load()
            self._state, self._probabilities = result.state, result.probabilities

    def forget(self) -> None:
        """Remove what the training left: the candidate is out of the search."""
        if self._kept is not None:
            self._kept.drop()


@dataclass(frozen=True, eq=False)
class KeptTraining:
    """A finished run and the store that has what it left."""

    run: Run
    store: Store
    executor: Executor

    def load(self) -> FitResult:
        """Return the training; it is repeated for what it left when that is gone."""
        how: dict[str, Any] = {"store": self.store, "executor": self.executor, "keep": KINDS}
        done = complete([self.run], **how).check()
        return done.result(next(iter(done)), *KINDS)

    def drop(self) -> None:
        """Remove what the training left; its record stays."""
        artefacts_of(self.store).drop([self.run.key])


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


class SplitTrainer:
    """Trains candidates on the splits of one graph; the prepared graph is shared.

    The seed of a replica follows from (seed, split, number), so that a member does not depend on
    what else was trained. What the store has is not trained again.
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
        store: Store | None = None,
        executor: Executor | None = None,
        spent: TimeSpent | None = None,
    ) -> None:
        self.graph, self.splits, self.seed, self.workers = graph, splits, seed, workers
        self.config = dict(config or {})
        self.store = MemoryStore() if store is None else store
        self.executor = this_machine(workers) if executor is None else executor
        self.spent = spent
        self.planner = Planner(seed=seed, engine=engine)
        self.notes: dict[str, None] = {}  # in order, each once
        self.failures: dict[str, str] = {}  # by family: why it could not be trained
        self.trained = 0
        self._noted: set[InputOptions] = set()

    def on(self, splits: SplitBatch) -> SplitTrainer:
        """Return a trainer on other splits of the same graph; prepared inputs are shared."""
        other = SplitTrainer(
            self.graph,
            splits,
            seed=self.seed,
            workers=self.workers,
            config=self.config,
            store=self.store,
            executor=self.executor,
            spent=self.spent,
        )
        other.planner, other.notes, other._noted = self.planner, self.notes, self._noted
        other.failures = self.failures
        return other

    def train(self, tasks: Sequence[Task]) -> dict[Task, Member | None]:
        """Train tasks; None stands for one that diverged at once or could not be trained.

        A model that refuses the graph or fails on it does not end the search: the reason is kept in
        ``failures``.
        Ctrl-C raises ``KeyboardInterrupt``; what was finished by then is in the store.
        """
        runs = {task: self._run(task) for task in tasks}
        keys = [run.key for run in runs.values()]
        known = self.store.finished(keys)
        try:
            done = complete(
                runs.values(), store=self.store, executor=self.executor, keep=KINDS, needs=()
            )
        except HeterophilyError:
            raise
        except (
            ArithmeticError,
            LookupError,
            MemoryError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as e:
            if len(tasks) == 1:
                self._fail(tasks[0], f"{type(e).__name__}: {e}")
                return {tasks[0]: None}
            return {task: self.train([task])[task] for task in tasks}  # which of them is it?
        records = done.records()
        for task, run in runs.items():
            if run.key in done.failures:
                self._fail(task, done.failures[run.key])
        if self.spent is not None:
            self.spent.count([records[key] for key in keys if key in records], known)
        self.trained += len(tasks)
        return {
            task: self._member(task, run, records[run.key]) if run.key in records else None
            for task, run in runs.items()
        }

    def _fail(self, task: Task, reason: str) -> None:
        self.failures.setdefault(task[0].family.label, reason)

    def _member(self, task: Task, run: Run, record: Record) -> Member | None:
        candidate, split, number = task
        if candidate.spec.inputs not in self._noted:
            self._noted.add(candidate.spec.inputs)
            self.notes.update(dict.fromkeys(self.planner.sources.inputs(run).remarks))
        if record.outcome.best_epoch == 0:
            return None
        return Member(
            candidate,
            split,
            number,
            None,
            None,
            record.outcome.epochs,
            validation=(record.outcome.scores or {}).get("validation"),
            seconds=record.outcome.seconds if self.spent is None else self.spent.seconds(record),
            kept=KeptTraining(run, self.store, self.executor),
        )

    def _run(self, task: Task) -> Run:
        candidate, split, number = task
        (run,) = self.planner.runs_on(
            candidate.model,
            candidate.options,
            candidate.config.replace(**self.config),
            self.graph,
            [self.splits[split]],
            rule="auto",
            seeds=[replica_seed(self.seed, split + len(self.splits) * number)],
            drawn_by=self.seed,
            numbers=[split],
        )
        return run
