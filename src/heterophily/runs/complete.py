"""The one road: runs in, records out; what is missing is trained, others are waited for. No torch.

Every training of the package goes through :func:`complete`; no other room calls ``fit``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heterophily.errors import InputError
from heterophily.learning.progress import Progress
from heterophily.runs.artefacts import ArtefactFiles, Kept, artefacts_of, check_kinds
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import local
from heterophily.runs.job import Job
from heterophily.runs.record import Record, command_line
from heterophily.runs.run import Run
from heterophily.runs.sources import Sources
from heterophily.runs.stores.base import Store, check_is_store

if TYPE_CHECKING:
    from heterophily.learning.result import FitResult

Watch = Callable[[set[str], int], None]
"""Called now and then with the keys that are finished and the number of all."""


def counted(progress: Progress) -> Watch:
    """Return a watch that tells a progress how many runs are finished."""

    def watch(finished: set[str], total: int) -> None:
        progress(len(finished), total)

    return watch


_LOOK_SECONDS = 0.5
_CHUNK = 4000  # runs handed to the executor at once, so that a big study fits into memory


@dataclass(frozen=True, eq=False)
class Completion:
    """Runs, the store that has their records, and a sentence for each run that failed."""

    runs: tuple[Run, ...]
    store: Store
    failures: Mapping[str, str] = field(default_factory=dict)

    def records(self) -> dict[str, Record]:
        """Return the records of the runs that are finished, by key, in the order of the runs."""
        found = {record.key: record for record in self.store.records([r.key for r in self.runs])}
        return {run.key: found[run.key] for run in self.runs if run.key in found}

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records in the order of the runs."""
        return iter(self.records().values())

    def check(self) -> Completion:
        """Return this, or raise the first sentence of a failure."""
        for sentence in self.failures.values():
            raise InputError(sentence)
        return self

    def kept(self, key: str, *kinds: str) -> Kept | None:
        """Return what a run left, by kind; None when it is not there."""
        return artefacts_of(self.store).read(key, kinds)

    def result(self, record: Record, *kinds: str) -> FitResult:
        """Return a run as :func:`~heterophily.training.fit.fit` returns it, from what it left."""
        from heterophily.runs.results import result_of

        kept = self.kept(record.key, *kinds)
        if kept is None:
            raise InputError(
                f"{self.store.name}: {', '.join(kinds)} of run {record.key[:12]} are gone; give "
                "the command again"
            )
        return result_of(record, kept)


def complete(
    runs: Iterable[Run],
    *,
    store: Store,
    executor: Executor | None = None,
    keep: Iterable[str] = (),
    needs: Iterable[str] | None = None,
    watch: Watch | None = None,
) -> Completion:
    """Train what is not in the store and return all records.

    Runs that another command has claimed are waited for, and taken over if it dies. Ctrl-C
    raises ``KeyboardInterrupt``; what is finished is in the store.

    Parameters
    ----------
    runs
        What to train; those of the same key are trained once.
    store
        Where records are looked for and kept.
    executor
        Where to train; by default worker processes, one for each usable core.
    keep
        Kinds of artefacts (:data:`~heterophily.runs.artefacts.KINDS`) that each training leaves.
    needs
        Kinds that must be there in the end, by default all of ``keep``: a run with a record but
        without them is trained once more for them alone, and must give the same answer.
    watch
        Shows progress.
    """
    check_is_store(store)
    asked = tuple({run.key: run for run in runs}.values())
    kinds = check_kinds(keep)
    needed = kinds if needs is None else check_kinds(needs)
    job = Job(store.url, _sources_of(asked), command=command_line(), keep=kinds, needs=needed)
    _check_sources(asked, store)
    if kinds:
        sweep_once(store, [run.key for run in asked])
    return complete_with(job, asked, store=store, executor=executor, watch=watch)


def complete_with(
    job: Job,
    runs: Sequence[Run],
    *,
    store: Store,
    executor: Executor | None = None,
    watch: Watch | None = None,
) -> Completion:
    """Apply a job to the runs that are not complete: see :func:`complete`."""
    asked = {run.key: run for run in runs}
    look = _Look(store, set(asked), job.needs, watch)
    failures: dict[str, str] = {}
    while missing := set(asked) - look() - set(failures):
        ordered = [run for key, run in asked.items() if key in missing][:_CHUNK]
        look.nearby = {run.key for run in ordered}
        execution = (executor or local()).execute(job, ordered, look.now_and_then)
        failures |= execution.failures
        if execution.interrupted:
            look()
            raise KeyboardInterrupt
        _wait(store, execution.busy, look)
    return Completion(tuple(asked.values()), store, failures)


def _sources_of(runs: Sequence[Run]) -> Sources:
    """Return the sources of runs: one object, as long as one planner made them."""
    found = list({id(run.sources): run.sources for run in runs if run.sources is not None}.values())
    if len(found) == 1:
        return found[0]
    joined = Sources()
    for part in found:
        joined.graphs |= part.graphs
        joined.splits |= part.splits
        joined.models |= part.models
    return joined


def _check_sources(runs: Sequence[Run], store: Store) -> None:
    """Refuse to keep runs of a model whose source cannot be part of their key."""
    if store.reach == "process":
        return
    for run in runs:
        if run.resolved.get("source") == "unknown":
            raise InputError(
                f"{run.model}: the source of this model cannot be found, so its runs cannot be "
                f"kept in {store.name}; write the class or function into a file, and give it only "
                "numbers, texts, classes and functions as arguments"
            )


_SWEPT: set[str] = set()


def sweep_once(store: Store, wanted: Collection[str]) -> None:
    """Sweep the artefacts of a store, once in a process."""
    if store.url not in _SWEPT:
        _SWEPT.add(store.url)
        artefacts = artefacts_of(store)
        if isinstance(artefacts, ArtefactFiles):
            artefacts.sweep(wanted)


class _Look:
    """Reads from the store which runs are finished, with what they should have left."""

    def __init__(
        self, store: Store, keys: set[str], needs: Collection[str], watch: Watch | None
    ) -> None:
        self.store, self.keys, self.needs, self.watch = store, keys, needs, watch
        self.artefacts = artefacts_of(store)
        self.finished: set[str] = set()
        self.nearby: set[str] = set()  # what is being trained: looked at often
        self.last = 0.0

    def __call__(self) -> set[str]:
        return self._look(self.keys)

    def now_and_then(self) -> None:
        if self.watch is not None and time.monotonic() - self.last > _LOOK_SECONDS:
            self._look(self.nearby)

    def _look(self, keys: set[str]) -> set[str]:
        found = self.store.finished(keys - self.finished)
        if self.needs:
            found = {key for key in found if self.artefacts.has(key, self.needs)}
        self.finished |= found
        self.last = time.monotonic()
        if self.watch is not None:
            self.watch(self.finished, len(self.keys))
        return self.finished


def _wait(store: Store, busy: Sequence[str], look: _Look) -> None:
    """Wait while other commands train these runs; return when they are done or one died."""
    waiting = list(busy)
    while waiting := [key for key in waiting if key not in look.finished]:
        if not all(store.claims.is_taken(key) for key in waiting):
            return  # finished or given up a moment ago: the caller looks
        time.sleep(_LOOK_SECONDS)
        look()
