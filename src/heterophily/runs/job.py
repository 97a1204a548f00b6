"""The job: claim a run, train it, commit its record, let go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from heterophily.errors import HeterophilyError, InputError
from heterophily.evaluation.run_scores import run_scores
from heterophily.runs.record import Outcome, Record, Run
from heterophily.runs.split_rules import SPLIT_RULES
from heterophily.runs.stores.sqlite import Store, StoreError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.data.splits import Split
    from heterophily.engine.buffers import GraphBuffers
    from heterophily.layers.inputs import GraphInputs, InputOptions
    from heterophily.models.spec import ModelSpec
    from heterophily.training.result import FitResult

Reply = tuple[str, str, str]
"""Key, what became of it (``done``, ``known``, ``busy``, ``failed``), and a sentence if failed."""


class Job:
    """What every worker is told once; called with a run, it sees to it that the run is stored.

    Claim the key, look whether somebody finished it meanwhile, train, commit, let go. Between
    any two of these steps the process may be killed: the store then holds the whole record or
    none, and the claim is gone.

    Parameters
    ----------
    store
        Path of the store.
    graphs
        How to open each graph, by content hash.
    splits
        The splits, by digest.
    command
        For the records.
    """

    def __init__(
        self,
        store: str,
        graphs: Mapping[str, Callable[[], Graph]],
        splits: Mapping[str, Split],
        command: str = "",
    ) -> None:
        self.store, self.graphs, self.splits, self.command = store, graphs, splits, command
        self._open: Store | None = None
        self._graph: Graph | None = None
        self._prepared: dict[InputOptions, GraphInputs] = {}
        self._buffers: dict[InputOptions, GraphBuffers | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to a worker: nothing that is open or prepared."""
        return {**self.__dict__, "_open": None, "_graph": None, "_prepared": {}, "_buffers": {}}

    def __call__(self, run: Run) -> Reply:
        """Make sure that a run is in the store."""
        if self._open is None:
            self._open = Store(self.store, is_checked=False)
        store, key = self._open, run.key
        with store.claims.claim(key) as is_ours:
            if not is_ours:
                return key, "busy", ""
            if store.finished([key]):
                return key, "known", ""
            start = store.start(key)
            try:
                outcome = self.outcome(run)
            except StoreError:
                raise
            except HeterophilyError as error:
                return key, "failed", str(error)
            store.add(Record.of(run, outcome, command=self.command), start=start)
        return key, "done", ""

    def close(self) -> None:
        """Close what was opened."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def outcome(self, run: Run) -> Outcome:
        """Train a run."""
        from heterophily.models.catalog import MODELS

        spec = MODELS[run.model].with_options(**run.options)
        graph, inputs = self._inputs(run, spec)
        if run.engine != "torch" and spec.inputs not in self._buffers:
            self._buffers[spec.inputs] = native_buffers(graph, inputs)
        buffers = self._buffers.get(spec.inputs)
        split = self.splits[run.split.digest]
        has_scores = run.split.rule != SPLIT_RULES["paper-random"].stored
        result = train_run(run, spec, graph, inputs, split, buffers=buffers, keep_state=has_scores)
        scores = None
        if has_scores and result.probabilities is not None:
            scores = run_scores(graph.labels, result.probabilities, split)
        return outcome_of(result, scores)

    def _inputs(self, run: Run, spec: ModelSpec) -> tuple[Graph, GraphInputs]:
        """Return the graph and its tensors; the last graph is kept, runs come sorted by graph."""
        from heterophily.layers.inputs import GraphInputs

        if self._graph is None or self._graph.content_hash != run.graph.content_hash:
            self._prepared.clear()
            self._buffers.clear()
            self._graph = None
            graph = self.graphs[run.graph.content_hash]()
            if graph.content_hash != run.graph.content_hash:
                raise InputError(
                    f"{run.graph.name} changed on disk while the study was running; "
                    "give the command again"
                )
            self._graph = graph
        if spec.inputs not in self._prepared:
            self._prepared[spec.inputs] = GraphInputs.from_graph(self._graph, spec.inputs)
        return self._graph, self._prepared[spec.inputs]


def native_buffers(graph: Graph, inputs: GraphInputs) -> GraphBuffers | None:
    """Return what the native engine reads of a graph, or None if it cannot train on it."""
    from heterophily.engine.buffers import GraphBuffers
    from heterophily.engine.library import engine
    from heterophily.engine.plan import NotCoveredError

    if engine().library is None:
        return None
    try:
        return GraphBuffers(inputs, graph.labels, graph.num_classes)
    except NotCoveredError:
        return None


def train_run(
    run: Run,
    spec: ModelSpec,
    graph: Graph,
    inputs: GraphInputs,
    split: Split,
    *,
    buffers: GraphBuffers | None = None,
    keep_state: bool = False,
) -> FitResult:
    """Train one run: the only place where a study meets the engine that trains."""
    from heterophily.training.config import TrainConfig
    from heterophily.training.replicas import Replica, fit_replicas

    build = spec.builder(inputs, num_classes=graph.num_classes)
    replica = Replica(build, split, TrainConfig(**run.config), run.seed)
    results = fit_replicas(
        [replica],
        inputs,
        graph.labels,
        workers=1,
        keep_state=keep_state,
        engine=run.engine,
        buffers=buffers,
    )
    if results.interrupted:
        raise KeyboardInterrupt
    return results.by_replica[0]


def outcome_of(result: FitResult, scores: Mapping[str, Any] | None = None) -> Outcome:
    """Detach what is stored from a fit result."""
    has_epoch = result.best_epoch > 0
    train_loss = float(result.history.train_loss[result.best_epoch - 1]) if has_epoch else None
    return Outcome(
        status=result.status,
        epochs=result.epochs,
        best_epoch=result.best_epoch,
        train_loss=train_loss,
        validation_loss=result.validation_loss if has_epoch else None,
        validation_accuracy=result.validation_accuracy if has_epoch else None,
        test_accuracy=result.test_accuracy if has_epoch else None,
        seconds=result.seconds,
        peak_memory_mb=result.peak_memory_mb,
        scores=scores,
    )
