"""Train one replica by mini-batches; it may be stopped at any moment and goes on from there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from heterophily.data.splits import Split
from heterophily.learning.progress import Progress
from heterophily.learning.result import FitResult, History, Status
from heterophily.learning.seeding import replica_seed, reproducible
from heterophily.training.checkpoint import Checkpoint
from heterophily.training.config import TrainConfig
from heterophily.training.early_stopping import STOPPING_RULES
from heterophily.training.epoch import check_split, class_weights, make_optimizer
from heterophily.training.memory import peak_memory_mb
from heterophily.training.selection import (
    RANKING,
    SELECTION_SCORES,
    Validation,
    check_selection,
)

Nodes = NDArray[np.int64]


class BatchSource(Protocol):
    """Where mini-batches come from, and how the whole graph is evaluated."""

    num_nodes: int

    def batches(
        self, nodes: Nodes, size: int, *, seed: int, epoch: int, part: Callable[[Nodes], Nodes]
    ) -> Iterator[Any]:
        """Iterate over (inputs, nodes) until every training node was seen once.

        Of each batch only the nodes that ``part`` returns are prepared.
        """
        ...

    def forward(self, model: nn.Module, inputs: Any) -> Tensor:
        """Return the logits (n, C) of a batch."""
        ...

    def exact(self, model: nn.Module, nodes: Nodes | None) -> Iterator[tuple[Any, Tensor]]:
        """Iterate over (rows, logits) of some nodes, ascending, or of all; nothing is sampled."""
        ...


class Team:
    """Processes that train together; this one alone unless told otherwise.

    Every process goes through the same batches and takes a part of each; gradients are averaged.
    """

    rank, size = 0, 1

    def share(self, forward: nn.Module) -> nn.Module:
        """Return a module with the same output, whose gradients are those of all processes."""
        return forward

    def part(self, nodes: Nodes) -> Nodes:
        """Return the nodes of a batch that this process takes."""
        return nodes[self.rank :: self.size]

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values over the processes."""
        return values


class _Forward(nn.Module):
    """A model on the batches of a source, as a module."""

    def __init__(self, model: nn.Module, source: BatchSource) -> None:
        super().__init__()
        self.model, self._source = model, source

    def forward(self, inputs: Any) -> Tensor:
        return self._source.forward(self.model, inputs)


@dataclass(eq=False)
class _Story:
    """What was seen so far: one entry per epoch; NaN where an epoch was not evaluated."""

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    best_epoch: int = 0
    best_score: float = -math.inf
    status: str = ""
    seconds: float = 0.0

    @property
    def evaluated(self) -> list[float]:
        return [loss for loss in self.validation_loss if not math.isnan(loss)]

    def history(self) -> History:
        return History(
            *(
                np.array(values)
                for values in (self.train_loss, self.validation_loss, self.validation_accuracy)
            )
        )


def fit_batches(
    build: Callable[[], nn.Module],
    source: BatchSource,
    labels: Nodes,
    split: Split,
    config: TrainConfig,
    *,
    seed: int,
    keep_state: bool = True,
    checkpoint: str | Path | None = None,
    team: Team | None = None,
    stop: Event | None = None,
    progress: Progress | None = None,
) -> FitResult:
    """Train a fresh model by mini-batches and report its best epoch.

    Parameters
    ----------
    build
        Makes the model, from torch's global generator, seeded here.
    source
        Mini-batches, and exact logits of the whole graph.
    labels, split, config, seed, keep_state
        As in :func:`~heterophily.training.fit.fit`; ``config.batches`` is not ``"full"``. The
        result follows from them alone: not from the number of threads, and not from interruptions.
    checkpoint
        File that is written after every epoch; where it is there already the training goes on
        after its epoch. Its owner removes it.
    team
        Processes that share the work.
    stop
        When set by another thread, the training ends as after Ctrl-C.
    progress
        Called after each epoch with (epoch, most epochs).
    """
    check_split(split, labels)
    check_selection(config.select_by, labels[split.validation])
    together = team or Team()
    with reproducible(seed, torch.device("cpu")):
        model = build()
        work = _Work(model, source, labels, split, config, seed, together, stop)
        kept = None if checkpoint is None else Checkpoint(Path(checkpoint))
        story, best = work.resume(kept)
        has_enough = STOPPING_RULES[config.stopping]
        while not story.status:
            start = time.perf_counter()
            epoch = len(story.train_loss) + 1
            train_loss = work.epoch(epoch)
            is_last = epoch == config.max_epochs
            is_finite = math.isfinite(train_loss)
            loss = share = math.nan
            if is_finite and (epoch % (config.evaluate_every or 1) == 0 or is_last):
                seen = work.validate()
                loss, share = seen.loss, seen.accuracy
                is_finite = math.isfinite(loss)
                score = SELECTION_SCORES[config.select_by](seen) if is_finite else math.nan
                if score > story.best_score:
                    story.best_epoch, story.best_score = epoch, score
                    best = {k: v.detach().clone() for k, v in model.state_dict().items()}
            story.train_loss.append(train_loss)
            story.validation_loss.append(loss)
            story.validation_accuracy.append(share)
            if not is_finite:
                story.status = "diverged"
            elif not math.isnan(loss) and has_enough(story.evaluated, config.window):
                story.status = "stopped"
            elif is_last:
                story.status = "max-epochs"
            story.seconds += time.perf_counter() - start
            if kept is not None and together.rank == 0:
                kept.save(model, work.optimizer, best, vars(story))
            if progress is not None:
                progress(epoch, config.max_epochs)
        return work.result(story, best, keep_state=keep_state)


class _Work:
    """The model, its optimiser and the nodes of one split."""

    def __init__(
        self,
        model: nn.Module,
        source: BatchSource,
        labels: Nodes,
        split: Split,
        config: TrainConfig,
        seed: int,
        team: Team,
        stop: Event | None,
    ) -> None:
        self.model, self.source, self.labels, self.config = model, source, labels, config
        self.seed, self.team, self.stop, self.split = seed, team, stop, split
        self.optimizer = make_optimizer(model, config)
        self.forward = team.share(_Forward(model, source))
        self.nodes = {part: np.flatnonzero(getattr(split, part)) for part in ("train", "test")}
        self.nodes["validation"] = np.flatnonzero(split.validation)
        self.class_weights: NDArray[np.float64] | None = None
        if config.is_weighted:
            self.class_weights = class_weights(config.class_weight, labels, split.train)

    def resume(self, kept: Checkpoint | None) -> tuple[_Story, dict[str, Tensor] | None]:
        found = None if kept is None else kept.load(self.model, self.optimizer)
        if found is None:
            return _Story(), None
        story, best = found
        return _Story(**story), best

    def epoch(self, number: int) -> float:
        """Go through all training nodes once; return the mean loss."""
        torch.manual_seed(replica_seed(self.seed, number * 4096 + self.team.rank))
        self.model.train()
        size = self.config.batch_size or 1024
        totals = np.zeros(2)
        for inputs, nodes in self.source.batches(
            self.nodes["train"], size, seed=self.seed, epoch=number, part=self.team.part
        ):
            if self.stop is not None and self.stop.is_set():
                raise KeyboardInterrupt
            losses, weights = self._losses(self.forward(inputs), nodes)
            sums = np.array([losses.sum().item(), float(weights.sum())])
            whole = self.team.total(sums)
            # Gradients are averaged over the processes, so that the sum is over the whole batch.
            loss = losses.sum() * (self.team.size / max(whole[1], 1e-12))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            totals += whole
        return float(totals[0] / max(totals[1], 1e-12))

    def _losses(self, logits: Tensor, nodes: Nodes) -> tuple[Tensor, Tensor]:
        targets = torch.from_numpy(self.labels[nodes].astype(np.int64))
        losses = cross_entropy(logits, targets, reduction="none")
        if self.class_weights is None:
            return losses, torch.ones_like(losses)
        weights = torch.from_numpy(self.class_weights)[targets].to(losses.dtype)
        return losses * weights, weights

    @torch.no_grad()
    def validate(self) -> Validation:
        """Return exact loss and accuracy of the validation nodes; with logits to rank them."""
        loss = weight = 0.0
        right = 0
        kept = []
        is_ranked = self.config.select_by in RANKING
        known = self.nodes["validation"]
        for rows, logits in self.source.exact(self.model, known):
            losses, weights = self._losses(logits, rows)
            loss += losses.double().sum().item()
            weight += weights.double().sum().item()
            right += int((logits.argmax(1).numpy() == self.labels[rows]).sum())
            if is_ranked:
                kept.append(logits)
        found = Validation(loss / max(weight, 1e-12), right / max(1, known.size))
        if not is_ranked:
            return found
        return replace(found, labels=torch.from_numpy(self.labels[known]), logits=torch.cat(kept))

    @torch.no_grad()
    def result(
        self, story: _Story, best: dict[str, Tensor] | None, *, keep_state: bool
    ) -> FitResult:
        count, at = self.source.num_nodes, story.best_epoch - 1
        predictions: Nodes = np.full(count, -1, np.int64)
        logits: NDArray[np.float32] | None = None
        test_accuracy = math.nan
        if best is not None:
            self.model.load_state_dict(best)
            for rows, found in self.source.exact(self.model, None):
                if logits is None:
                    logits = np.empty((count, found.shape[1]), np.float32)
                logits[rows] = found.float().numpy()
                predictions[rows] = found.argmax(1).numpy()
            test = self.nodes["test"]
            test_accuracy = float((predictions[test] == self.labels[test]).mean())
        status: Status = story.status  # type: ignore[assignment]
        return FitResult(
            seed=self.seed,
            status=status,
            epochs=len(story.train_loss),
            best_epoch=story.best_epoch,
            validation_loss=story.validation_loss[at] if best else math.nan,
            validation_accuracy=story.validation_accuracy[at] if best else math.nan,
            test_accuracy=test_accuracy,
            predictions=predictions,
            logits=logits if keep_state else None,
            state=best if keep_state else None,
            history=story.history(),
            seconds=story.seconds,
            peak_memory_mb=peak_memory_mb(torch.device("cpu")),
        )
