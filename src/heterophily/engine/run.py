"""Run replicas in the native engine: the same arguments and results as the torch path."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from heterophily.data.splits import PARTS
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.parameters import NotCoveredError, address, pointer
from heterophily.engine.plan import Plan, config_reason
from heterophily.errors import InputError
from heterophily.learning.progress import Progress
from heterophily.learning.result import FitResult, History
from heterophily.learning.seeding import reproducible
from heterophily.native import structs
from heterophily.native.library import engine
from heterophily.training.epoch import check_split, class_weights
from heterophily.training.memory import peak_memory_mb
from heterophily.training.replica import FitResults, Replica
from heterophily.training.selection import check_selection

_CPU = torch.device("cpu")
_POLL_SECONDS = 0.1
_LARGE_GRAPH = 100_000  # nodes from which threads may share a run
THREADS_VARIABLE = "HETEROPHILY_ENGINE_THREADS"
"""Environment variable: how many threads may share a run on a large graph; same results."""
_BATCH_BYTES = 2**27  # initial parameters that wait for a thread


@dataclass(eq=False)
class NativeResults:
    """Results of the finished tasks by number, and whether Ctrl-C ended the queue.

    ``models`` are the networks that were built for them, with their first weights.
    """

    results: dict[int, FitResult] = field(default_factory=dict)
    models: dict[int, nn.Module] = field(default_factory=dict)
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class NativeEngine:
    """The engine as :func:`~heterophily.training.replicas.fit_replicas` wants it.

    ``buffers`` are those of the inputs, from a caller who trains on one graph many times;
    otherwise they are prepared in each call.
    """

    buffers: GraphBuffers | None = None

    def train(
        self,
        replicas: Sequence[Replica],
        inputs: Any,
        labels: NDArray[np.int64],
        *,
        threads: int = 1,
        progress: Progress | None = None,
        keep_state: bool = True,
        stop: threading.Event | None = None,
    ) -> FitResults:
        """Train all replicas, with their logits if the state is kept."""
        done = run(
            replicas,
            inputs if self.buffers is None else self.buffers,
            labels,
            threads=_threads(threads, len(replicas), len(labels)),
            progress=progress,
            keep_state=keep_state,
            stop=stop,
        )
        found = {
            number: _with_logits(result, done.models[number], inputs)
            for number, result in done.results.items()
        }
        return FitResults(found, interrupted=done.interrupted, engine="native")


def _threads(asked: int, replicas: int, num_nodes: int) -> int:
    """Return the number of threads: one for each run, and more if a graph is large."""
    if num_nodes < _LARGE_GRAPH:
        return max(1, min(asked, replicas))
    given = os.environ.get(THREADS_VARIABLE, "1")
    if not given.isdecimal() or int(given) < 1:
        raise InputError(f"{THREADS_VARIABLE}={given!r}; it is a whole number of at least 1")
    return max(asked, int(given))


@torch.no_grad()
def _with_logits(result: FitResult, model: nn.Module, inputs: Any) -> FitResult:
    """Return a result with the logits of its state, by one pass of torch.

    ``model`` is the network that the engine read its first weights from.
    """
    if result.state is None:
        return result
    with reproducible(0, _CPU):
        model.load_state_dict(dict(result.state))
        model.eval()
        return replace(result, logits=model(inputs).float().numpy())


def run(
    tasks: Sequence[Replica],
    inputs: Any,
    labels: NDArray[np.int64],
    *,
    threads: int = 1,
    progress: Progress | None = None,
    keep_state: bool = True,
    stop: threading.Event | None = None,
) -> NativeResults:
    """Train tasks on threads of this process; raise :class:`NotCoveredError` before any work.

    When ``stop`` is set by another thread, the queue ends as after Ctrl-C.

    ``inputs`` is the prepared graph, or its :class:`GraphBuffers` to share them between calls.
    Models are built one by one as torch would (same seed, same initial weights). Results do not
    depend on the number of threads or on what else is in the queue.
    """
    native = engine()
    if native.library is None:
        raise NotCoveredError(f"no native engine ({native.reason})")
    outcome = NativeResults()
    buffers = inputs if isinstance(inputs, GraphBuffers) else None
    waiting = list(enumerate(tasks))
    while waiting and not outcome.interrupted:
        batch: list[_Run] = []
        size = 0
        while waiting and (size < _BATCH_BYTES or len(batch) < threads):
            number, task = waiting.pop(0)
            plan = _plan(task)
            if buffers is None:
                buffers = GraphBuffers(inputs, labels, plan.num_classes)
            buffers.prepare(plan.operators)
            if (dtype := plan.parameters.dtype) != buffers.dtype:
                raise NotCoveredError(f"the model is {dtype}, the graph {buffers.dtype}")
            batch.append(_Run(number, task, plan, labels, keep_state=keep_state))
            size += plan.parameters.initial.nbytes * (2 if keep_state else 1)
        assert buffers is not None
        _run_batch(native.library, buffers, batch, threads, outcome, progress, len(tasks), stop)
    return outcome


def _plan(task: Replica) -> Plan:
    with reproducible(task.seed, _CPU):
        model = task.build()
    if reason := config_reason(task.config, type(model)):
        raise NotCoveredError(reason)
    return Plan(model)


class _Run:
    """A task with its buffers."""

    def __init__(
        self, number: int, task: Replica, plan: Plan, labels: NDArray[np.int64], *, keep_state: bool
    ) -> None:
        check_split(task.split, labels)
        check_selection(task.config.select_by, labels[task.split.validation])
        self.number, self.task, self.plan = number, task, plan
        config = task.config
        self.rows = {
            part: np.flatnonzero(getattr(task.split, part)).astype(np.int32) for part in PARTS
        }
        self.history = np.zeros((3, config.max_epochs))
        self.predictions = np.full(labels.size, -1, np.int32)
        initial = plan.parameters.initial
        self.best = np.zeros_like(initial) if keep_state else None
        self.weights = None
        if config.is_weighted:
            of_class = class_weights(config.class_weight, labels, task.split.train)
            self.weights = np.where(labels < 0, 0.0, of_class[labels]).astype(initial.dtype)
        self.struct = structs.ReplicaStruct(
            model=None if plan.model_struct is None else pointer(plan.model_struct),
            initial=address(initial),
            lr=config.lr,
            weight_decay=config.weight_decay,
            seed=task.seed,
            is_adamw=config.optimizer == "adamw",
            stopping=structs.STOPPING[config.stopping],
            window=config.window,
            select_by=structs.SELECTION[config.select_by],
            max_epochs=config.max_epochs,
            history=address(self.history),
            best=address(self.best),
            predictions=address(self.predictions),
            status=structs.STATUS_RUNNING,
            **{part: address(rows) for part, rows in self.rows.items()},
            **{f"num_{part}": len(rows) for part, rows in self.rows.items()},
        )

    @property
    def is_task(self) -> bool:
        """Whether a replica of a network of channels does not say all."""
        return self.plan.program is not None or self.weights is not None

    def task_struct(self) -> structs.TaskStruct:
        program, config = self.plan.program, self.task.config
        own = config.coefficient_lr, config.coefficient_weight_decay
        return structs.TaskStruct(
            replica=self.struct,
            program=None if program is None else pointer(program),
            weights=address(self.weights),
            own_lr=config.lr if own[0] is None else own[0],
            own_weight_decay=config.weight_decay if own[1] is None else own[1],
        )

    def result(self, done: structs.ReplicaStruct) -> FitResult:
        train_loss, loss, accuracy = self.history[:, : done.epochs].copy()
        at = done.best_epoch - 1
        return FitResult(
            seed=self.task.seed,
            status=structs.STATUS[done.status],  # type: ignore[arg-type]
            epochs=done.epochs,
            best_epoch=done.best_epoch,
            validation_loss=float(loss[at]) if done.best_epoch else np.nan,
            validation_accuracy=float(accuracy[at]) if done.best_epoch else np.nan,
            test_accuracy=done.test_accuracy,
            predictions=self.predictions.astype(np.int64),
            logits=None,  # of the state, by whoever has the inputs of torch
            state=self.plan.parameters.state(self.best)
            if self.best is not None and done.best_epoch
            else None,
            history=History(train_loss, loss, accuracy),
            seconds=done.seconds,
            peak_memory_mb=peak_memory_mb(_CPU),
        )


def _run_batch(
    library: ctypes.CDLL,
    buffers: GraphBuffers,
    batch: list[_Run],
    threads: int,
    outcome: NativeResults,
    progress: Progress | None,
    total: int,
    asked_to_stop: threading.Event | None,
) -> None:
    array: Any
    if any(run.is_task for run in batch):
        array = (structs.TaskStruct * len(batch))(*(run.task_struct() for run in batch))
        train, replicas = library.hp_train_tasks, [task.replica for task in array]
    else:
        array = (structs.ReplicaStruct * len(batch))(*(run.struct for run in batch))
        train, replicas = library.hp_train, list(array)
    epochs = np.zeros(len(batch), np.int64)
    stop = ctypes.c_int32(0)

    def call() -> None:
        train(
            ctypes.byref(buffers.struct),
            array,
            len(batch),
            threads,
            epochs.ctypes.data,
            ctypes.byref(stop),
        )

    before = len(outcome.results)
    shown = before
    worker = threading.Thread(target=call, name="heterophily-engine")
    worker.start()
    try:
        is_running = True
        while is_running:  # once more after the end, so that the last replica is told
            worker.join(_POLL_SECONDS)
            is_running = worker.is_alive()
            if progress is not None:
                shown = _report(progress, shown, before, replicas, total)
            if asked_to_stop is not None and asked_to_stop.is_set():
                stop.value = 1
                outcome.interrupted = True
    except KeyboardInterrupt:
        stop.value = 1
        outcome.interrupted = True
        worker.join()
    for run, done in zip(batch, replicas, strict=True):
        if done.status == structs.STATUS_NO_MEMORY:
            raise MemoryError
        if done.status in structs.STATUS:
            outcome.results[run.number] = run.result(done)
            outcome.models[run.number] = run.plan.model


def _report(
    progress: Progress,
    shown: int,
    before: int,
    replicas: Sequence[structs.ReplicaStruct],
    total: int,
) -> int:
    finished = before + sum(done.status in structs.STATUS for done in replicas)
    if finished > shown:
        progress(finished, total)
    return finished
