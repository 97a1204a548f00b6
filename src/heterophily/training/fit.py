"""Train one replica: configuration, split and seed in, a :class:`FitResult` out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.data.splits import Split
from heterophily.learning.learner import Learner, Lesson
from heterophily.learning.result import FitResult, History, Status
from heterophily.learning.seeding import reproducible
from heterophily.training.config import TrainConfig
from heterophily.training.device import as_device
from heterophily.training.early_stopping import STOPPING_RULES
from heterophily.training.epoch import FullBatch, accuracy, check_split, class_weights
from heterophily.training.memory import peak_memory_mb
from heterophily.training.selection import SELECTION_SCORES


def fit(
    build: Callable[[], nn.Module],
    inputs: Any,
    labels: NDArray[np.int64],
    split: Split,
    config: TrainConfig,
    *,
    seed: int,
    device: str | torch.device = "cpu",
    keep_state: bool = True,
) -> FitResult:
    """Train a fresh model on one split and report its best epoch.

    Parameters
    ----------
    build
        Makes the model; its initialisation draws from torch's global generator, seeded here. A
        :class:`~heterophily.learning.learner.Learner` fits itself, any other module is trained by
        gradient steps.
    inputs
        What the model receives (already on ``device``); shared between replicas, only read.
    labels
        (N,) classes; -1 = unlabelled.
    split
        Training, validation and test nodes; all labelled.
    config
        Optimiser, stopping rule, selection.
    seed
        Seed of initialisation and dropout. The result depends on the arguments alone: not on
        other replicas, earlier draws or the number of threads (one is used).
    device
        Where the model is trained.
    keep_state
        Whether parameters and logits of the best epoch are kept.
    """
    place = as_device(device)
    with reproducible(seed, place):
        model = build().to(place)
        if isinstance(model, Learner):
            return _learn(model, inputs, labels, split, config, seed, place, keep_state)
        epochs = FullBatch(model, inputs, labels, split, config, device=place)
        return _run(epochs, config, seed=seed, device=place, keep_state=keep_state)


def _run(
    epochs: FullBatch, config: TrainConfig, *, seed: int, device: torch.device, keep_state: bool
) -> FitResult:
    has_enough = STOPPING_RULES[config.stopping]
    score_of = SELECTION_SCORES[config.select_by]
    train_losses: list[float] = []
    losses: list[float] = []
    accuracies: list[float] = []
    best = _Best(epochs, keep_state=keep_state)
    status: Status = "max-epochs"
    start = time.perf_counter()
    for epoch in range(1, config.max_epochs + 1):
        train_loss = epochs.step()
        seen, logits = epochs.evaluate()
        train_losses.append(train_loss)
        losses.append(seen.loss)
        accuracies.append(seen.accuracy)
        if not (math.isfinite(train_loss) and math.isfinite(seen.loss)):
            status = "diverged"
            break
        best.offer(epoch, score_of(seen), logits)
        if has_enough(losses, config.window):
            status = "stopped"
            break
    seconds = time.perf_counter() - start
    at = best.epoch - 1
    return FitResult(
        seed=seed,
        status=status,
        epochs=len(losses),
        best_epoch=best.epoch,
        validation_loss=losses[at] if best.epoch else math.nan,
        validation_accuracy=accuracies[at] if best.epoch else math.nan,
        test_accuracy=best.test_accuracy,
        predictions=best.predictions,
        logits=best.kept_logits,
        state=best.state,
        history=History(np.array(train_losses), np.array(losses), np.array(accuracies)),
        seconds=seconds,
        peak_memory_mb=peak_memory_mb(device),
    )


def _learn(
    model: nn.Module,
    inputs: Any,
    labels: NDArray[np.int64],
    split: Split,
    config: TrainConfig,
    seed: int,
    device: torch.device,
    keep_state: bool,
) -> FitResult:
    """Let a model fit itself; test labels are hidden from it."""
    check_split(split, labels)
    start = time.perf_counter()
    shown = np.where(split.train | split.validation, labels, -1)
    weights = np.ones(labels.size)
    if config.is_weighted:
        of_class = class_weights(config.class_weight, labels, split.train)
        weights = np.where(shown >= 0, of_class[shown], 0.0)

    def train(network: nn.Module) -> FitResult:
        epochs = FullBatch(network, inputs, labels, split, config, device=device)
        return _run(epochs, config, seed=seed, device=device, keep_state=True)

    assert isinstance(model, Learner)
    learned = model.learn(
        Lesson(
            inputs,
            shown,
            split,
            config.max_epochs,
            config.is_weighted,
            seed,
            weights,
            train,
        )
    )
    model.eval()
    with torch.no_grad():
        logits = model(inputs).float().cpu()
    predictions = logits.argmax(1).numpy()
    history, at = learned.history, learned.best_epoch - 1
    return FitResult(
        seed=seed,
        status="stopped",
        epochs=len(history),
        best_epoch=learned.best_epoch,
        validation_loss=float(history.validation_loss[at]),
        validation_accuracy=float(history.validation_accuracy[at]),
        test_accuracy=float((predictions == labels)[split.test].mean()),
        predictions=predictions,
        logits=logits.numpy() if keep_state else None,
        state=dict(model.state_dict()) if keep_state else None,
        history=history,
        seconds=time.perf_counter() - start,
        peak_memory_mb=peak_memory_mb(device),
    )


class _Best:
    """The best epoch so far; state and predictions are copied only when the score improves."""

    def __init__(self, epochs: FullBatch, *, keep_state: bool) -> None:
        self.epochs = epochs
        self.epoch = 0
        self.score = -math.inf
        self.logits: Tensor | None = None
        self.state: dict[str, Tensor] | None = None
        self.keep_state = keep_state

    def offer(self, epoch: int, score: float, logits: Tensor) -> None:
        if score <= self.score:
            return
        self.epoch, self.score, self.logits = epoch, score, logits
        if not self.keep_state:
            return
        current = self.epochs.model.state_dict()
        if self.state is None:
            self.state = {name: value.detach().clone() for name, value in current.items()}
        else:
            for name, value in current.items():
                self.state[name].copy_(value)

    @property
    def kept_logits(self) -> NDArray[np.float32] | None:
        if self.logits is None or not self.keep_state:
            return None
        return self.logits.detach().float().cpu().numpy().copy()

    @property
    def predictions(self) -> NDArray[np.int64]:
        if self.logits is None:
            return np.full(self.epochs.num_nodes, -1, np.int64)
        return self.logits.argmax(1).cpu().numpy()

    @property
    def test_accuracy(self) -> float:
        if self.logits is None:
            return math.nan
        rows, targets = self.epochs.rows["test"], self.epochs.targets["test"]
        return accuracy(self.logits.index_select(0, rows).argmax(1), targets)
