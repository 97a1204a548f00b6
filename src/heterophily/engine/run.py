"""Run replicas in the native engine: the same arguments and results as the torch path."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from heterophily.data.splits import PARTS, Split
from heterophily.engine import structs
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.library import engine
from heterophily.engine.plan import NotCoveredError, Plan, address, pointer
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import check_split
from heterophily.training.memory import peak_memory_mb
from heterophily.training.result import FitResult, History
from heterophily.training.seeding import reproducible

_CPU = torch.device("cpu")
_POLL_SECONDS = 0.1
_BATCH_BYTES = 2**27  # initial parameters that wait for a thread


@dataclass(frozen=True, eq=False)
class Task:
    """One replica: what to build, on which split, how, with which seed."""

    build: Callable[[], nn.Module]
    split: Split
    config: TrainConfig
    seed: int


@dataclass(eq=False)
class Outcome:
    """Results of the finished tasks by number, and whether Ctrl-C ended the queue.

    ``models`` are the networks that were built for them, with their first weights.
    """

    results: dict[int, FitResult] = field(default_factory=dict)
    models: dict[int, nn.Module] = field(default_factory=dict)
    interrupted: bool = False


def run(
    tasks: Sequence[Task],
    inputs: Any,
    labels: NDArray[np.int64],
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    keep_state: bool = True,
    stop: threading.Event | None = None,
) -> Outcome:
    """Train tasks on threads of this process; raise :class:`NotCoveredError` before any work.

    When ``stop`` is set by another thread, the queue ends as after Ctrl-C.

    ``inputs`` is the prepared graph, or its :class:`GraphBuffers` to share them between calls.
    Models are built one by one as torch would (same seed, same initial weights). Results do not
    depend on the number of threads or on what else is in the queue.
    """
    native = engine()
    if native.library is None:
        raise NotCoveredError(f"no native engine ({native.reason})")
    outcome = Outcome()
    buffers = inputs if isinstance(inputs, GraphBuffers) else None
    waiting = list(enumerate(tasks))
    while waiting and not outcome.interrupted:
        batch: list[_Run] = []
        size = 0
        while waiting and (size < _BATCH_BYTES or len(batch) < threads):
            number, task = waiting.pop(0)
            plan = _plan(task)
            if buffers is None:
                buffers = GraphBuffers(inputs, labels, _num_classes(plan))
            if plan.dtype != buffers.dtype:
                raise NotCoveredError(f"the model is {plan.dtype}, the graph {buffers.dtype}")
            batch.append(_Run(number, task, plan, labels, keep_state=keep_state))
            size += plan.initial.nbytes * (2 if keep_state else 1)
        assert buffers is not None
        _run_batch(native.library, buffers, batch, threads, outcome, progress, len(tasks), stop)
    return outcome


def _plan(task: Task) -> Plan:
    if task.config.is_weighted:
        raise NotCoveredError("class weights run in torch")
    if task.config.has_groups:
        raise NotCoveredError("own rates of coefficients run in torch")
    with reproducible(task.seed, _CPU):
        return Plan(task.build())


def _num_classes(plan: Plan) -> int:
    return int(plan.struct.layers[plan.struct.num_layers - 1].width)


class _Run:
    """A task with its buffers."""

    def __init__(
        self, number: int, task: Task, plan: Plan, labels: NDArray[np.int64], *, keep_state: bool
    ) -> None:
        check_split(task.split, labels)
        self.number, self.task, self.plan = number, task, plan
        config = task.config
        self.rows = {
            part: np.flatnonzero(getattr(task.split, part)).astype(np.int32) for part in PARTS
        }
        self.history = np.zeros((3, config.max_epochs))
        self.predictions = np.full(labels.size, -1, np.int32)
        self.best = np.zeros_like(plan.initial) if keep_state else None
        self.struct = structs.Replica(
            model=pointer(plan.struct),
            initial=address(plan.initial),
            lr=config.lr,
            weight_decay=config.weight_decay,
            seed=task.seed,
            is_adamw=config.optimizer == "adamw",
            stopping=structs.STOPPING[config.stopping],
            window=config.window,
            select_by_accuracy=config.select_by == "validation-accuracy",
            max_epochs=config.max_epochs,
            history=address(self.history),
            best=address(self.best),
            predictions=address(self.predictions),
            status=structs.STATUS_RUNNING,
            **{part: address(rows) for part, rows in self.rows.items()},
            **{f"num_{part}": len(rows) for part, rows in self.rows.items()},
        )

    def result(self, done: structs.Replica) -> FitResult:
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
            state=self.plan.state(self.best) if self.best is not None and done.best_epoch else None,
            history=History(train_loss, loss, accuracy),
            seconds=done.seconds,
            peak_memory_mb=peak_memory_mb(_CPU),
        )


def _run_batch(
    library: ctypes.CDLL,
    buffers: GraphBuffers,
    batch: list[_Run],
    threads: int,
    outcome: Outcome,
    progress: Callable[[int, int], None] | None,
    total: int,
    asked_to_stop: threading.Event | None,
) -> None:
    array = (structs.Replica * len(batch))(*(run.struct for run in batch))
    epochs = np.zeros(len(batch), np.int64)
    stop = ctypes.c_int32(0)

    def call() -> None:
        library.hp_train(
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
                shown = _report(progress, shown, before, array, total)
            if asked_to_stop is not None and asked_to_stop.is_set():
                stop.value = 1
                outcome.interrupted = True
    except KeyboardInterrupt:
        stop.value = 1
        outcome.interrupted = True
        worker.join()
    for run, done in zip(batch, array, strict=True):
        if done.status == structs.STATUS_NO_MEMORY:
            raise MemoryError
        if done.status in structs.STATUS:
            outcome.results[run.number] = run.result(done)
            outcome.models[run.number] = run.plan.model


def _report(
    progress: Callable[[int, int], None], shown: int, before: int, array: Any, total: int
) -> int:
    finished = before + sum(done.status in structs.STATUS for done in array)
    if finished > shown:
        progress(finished, total)
    return finished
