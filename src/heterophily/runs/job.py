"""The job: claim a run, train it, keep what is asked for, commit its record, let go."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.errors import HeterophilyError, InputError
from heterophily.evaluation.run_scores import run_scores
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.runs.artefacts import ArtefactFiles, Kept, artefacts_of
from heterophily.runs.engines import engine_of
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import Run, canonical, digest
from heterophily.runs.sources import Sources
from heterophily.runs.stores.base import Store, StoreError
from heterophily.runs.stores.url import open_store

if TYPE_CHECKING:
    from heterophily.learning.result import FitResult


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training gave: the outcome for the record, and what is kept besides."""

    outcome: Outcome
    kept: Kept


@dataclass(frozen=True, eq=False)
class Reply:
    """What became of a run: ``done``, ``known``, ``busy``, ``failed`` or ``trained``.

    ``sentence`` says why it failed. ``trained`` is the whole result, from a worker that cannot
    reach the store (one in the memory of another process): whoever hears it commits it.
    """

    key: str
    what: str
    sentence: str = ""
    trained: Trained | None = None


class Job:
    """What every worker is told once; called with a run, it sees to it that the run is stored.

    Claim the key, look whether somebody finished it meanwhile, train, commit, let go. Between
    any two of these steps the process may be killed: the store then holds the whole record or
    none, and the claim is gone.

    Parameters
    ----------
    store
        URL of the store.
    sources
        Where graphs, splits and models are found.
    command
        For the records.
    keep
        Kinds of artefacts that a training leaves beside the store.
    needs
        Kinds that must be there in the end: a finished run that lacks one is trained again.
    """

    def __init__(
        self,
        store: str,
        sources: Sources | None = None,
        *,
        command: str = "",
        keep: tuple[str, ...] = (),
        needs: tuple[str, ...] = (),
    ) -> None:
        self.store, self.sources, self.command = store, sources or Sources(), command
        self.keep, self.needs = keep, needs
        self._open: Store | None = None
        self._is_at_home = True
        self.stop, self._lock = Event(), Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to a worker: nothing that is open."""
        state = {**self.__dict__, "_open": None, "_is_at_home": False}
        for name in ("stop", "_lock", "content", "pickled"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with nothing open."""
        self.__dict__.update(state)
        self.stop, self._lock = Event(), Lock()

    @cached_property
    def content(self) -> str:
        """A hash: workers that know a job of equal content need not be told again."""
        facts = [self.store, self.command, self.keep, self.needs, type(self).__qualname__]
        return digest(canonical([facts, self.sources.content()]))

    @cached_property
    def pickled(self) -> bytes:
        """The job as bytes, for a worker process."""
        try:
            return pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"the model cannot be sent to a worker process ({error}); write it at the top of a "
                "file (a class or a function), or pass workers=1"
            ) from error

    def __call__(self, run: Run, threads: int = 1) -> Reply:
        """Make sure that a run is in the store; so many threads may share the training."""
        if self.store.startswith("memory:") and not self._is_at_home:
            return self._trained_elsewhere(run)
        store, key = self._store(), run.key
        with store.claims.claim(key) as is_ours:
            if not is_ours:
                return Reply(key, "busy")
            artefacts, before = artefacts_of(store), None
            if store.finished([key]):
                if artefacts.has(key, self.needs):
                    return Reply(key, "known")
                before = store.get(key)
            start = store.start(key)
            try:
                trained = self.train(run, threads)
                if before is not None and before.outcome.answer != trained.outcome.answer:
                    return Reply(key, "failed", _disagreement(before, store))
                if self.keep:
                    artefacts.write(key, trained.kept)
            except StoreError:
                raise
            except HeterophilyError as error:
                return Reply(key, "failed", str(error))
            if before is None:
                store.add(Record.of(run, trained.outcome, command=self.command), start=start)
        return Reply(key, "done")

    def _trained_elsewhere(self, run: Run) -> Reply:
        try:
            return Reply(run.key, "trained", trained=self.train(run))
        except HeterophilyError as error:
            return Reply(run.key, "failed", str(error))

    def commit(self, run: Run, trained: Trained) -> None:
        """Store what a worker trained that cannot reach the store."""
        store = self._store()
        start = store.start(run.key)
        if self.keep:
            artefacts_of(store).write(run.key, trained.kept)
        store.add(Record.of(run, trained.outcome, command=self.command), start=start)

    def _store(self) -> Store:
        with self._lock:  # threads that begin together open it once
            if self._open is None:
                self._open = open_store(self.store, is_checked=False)
            return self._open

    def close(self) -> None:
        """Close what was opened."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def train(self, run: Run, threads: int = 1) -> Trained:
        """Train a run."""
        graph, split = self.sources.any_graph(run), self.sources.split(run)
        has_scores = run.split.rule != SPLIT_RULES["paper-random"].stored
        keeps_state = has_scores or bool({"logits", "state", "channels"} & set(self.keep))
        kept = self._checkpoint(run)
        result = train_run(
            run,
            self.sources,
            keep_state=keeps_state,
            stop=self.stop,
            checkpoint=kept,
            threads=threads,
        )
        scores = None
        if has_scores and result.probabilities is not None:
            labels = np.asarray(graph.labels, np.int64)
            scores = run_scores(labels, result.probabilities, split)
        if kept is not None:
            kept.unlink(missing_ok=True)
        return Trained(outcome_of(result, scores), self._kept(run, result))

    def _checkpoint(self, run: Run) -> Path | None:
        """Return the file by which mini-batches go on after a kill; None for other runs."""
        if run.config.get("batches", "full") == "full" or self.store.startswith("memory:"):
            return None
        artefacts = artefacts_of(self._store())
        if not isinstance(artefacts, ArtefactFiles):
            return None
        return artefacts.folder / run.key[:2] / f"{run.key}.checkpoint"

    def _kept(self, run: Run, result: FitResult) -> Kept:
        kept = dict(kept_of(result, [kind for kind in self.keep if kind != "channels"]))
        if "channels" in self.keep:
            from heterophily.runs.inside import channel_arrays

            inputs, graph = self.sources.inputs(run), self.sources.graph(run)
            build = self.sources.spec(run).builder(inputs, num_classes=graph.num_classes)
            state = result.state
            kept["channels"] = {} if state is None else channel_arrays(build, state, inputs)
        return kept


def _disagreement(record: Record, store: Store) -> str:
    run = record.run
    return (
        f"{run['model']} on {run['graph']['name']}, split {run['split']['index']}: trained again, "
        f"it gives other numbers than its record in {store.name} (run {record.key[:12]}): this "
        "machine or its programs compute otherwise than those that made the record; name another "
        "store"
    )


def train_run(
    run: Run,
    sources: Sources,
    *,
    keep_state: bool = False,
    stop: Event | None = None,
    checkpoint: Path | None = None,
    threads: int = 1,
) -> FitResult:
    """Train one run: the only place where a run meets the engine that trains.

    ``threads`` may share a run of the native engine on a large graph; results do not change.
    """
    if run.config.get("batches", "full") != "full":
        from heterophily.runs.mini_batches import train_batches

        return train_batches(run, sources, keep_state=keep_state, stop=stop, checkpoint=checkpoint)
    from heterophily.training.config import TrainConfig
    from heterophily.training.replica import Replica
    from heterophily.training.replicas import fit_replicas

    graph, inputs = sources.graph(run), sources.inputs(run)
    build = sources.spec(run).builder(inputs, num_classes=graph.num_classes)
    replica = Replica(build, sources.split(run), TrainConfig(**run.config), run.seed)
    results = fit_replicas(
        [replica],
        inputs,
        graph.labels,
        workers=threads,
        keep_state=keep_state,
        device=run.device,
        engine=engine_of(run.engine, sources.buffers(run)),
        stop=stop,
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


def kept_of(result: FitResult, keep: Sequence[str]) -> Kept:
    """Detach the artefacts of some kinds from a fit result."""
    history, logits, state = result.history, result.logits, result.state or {}
    every: dict[str, Any] = {
        "history": {
            "train_loss": history.train_loss,
            "validation_loss": history.validation_loss,
            "validation_accuracy": history.validation_accuracy,
        },
        "logits": {} if logits is None else {"logits": logits, "predictions": result.predictions},
        "state": {name: value.cpu().contiguous().numpy() for name, value in state.items()},
    }
    return {kind: every[kind] for kind in keep}
