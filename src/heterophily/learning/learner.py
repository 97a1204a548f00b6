"""Models that learn by an algorithm of their own instead of gradient steps: trees, propagation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from heterophily.data.splits import Split
from heterophily.learning.result import FitResult, History


@dataclass(frozen=True, eq=False)
class Lesson:
    """All that a learner may look at.

    Parameters
    ----------
    inputs
        The prepared graph.
    labels
        (N,) classes of the training and validation nodes; -1 everywhere else, test nodes included.
    split
        Training, validation and test nodes.
    max_epochs
        The number of rounds, at most.
    is_weighted
        Whether classes have weights.
    seed
        Seed of every draw.
    node_weights
        (N,) weight of each training or validation node in a loss; 1 without class weights.
    train
        Trains a network (such as one inside the learner) by gradient steps on this split.
    """

    inputs: Any
    labels: NDArray[np.int64]
    split: Split
    max_epochs: int
    is_weighted: bool
    seed: int
    node_weights: NDArray[np.float64]
    train: Callable[[nn.Module], FitResult]

    def judged(self, logits: Tensor) -> Learned:
        """Return the outcome of a single round: the losses and the accuracy of logits (N, C)."""
        targets = torch.from_numpy(self.labels)
        losses = {}
        for part in ("train", "validation"):
            rows = torch.from_numpy(np.flatnonzero(getattr(self.split, part)))
            weights = torch.from_numpy(self.node_weights)[rows]
            found = cross_entropy(logits[rows].double(), targets[rows], reduction="none")
            losses[part] = float((found * weights).sum() / weights.sum())
        right = logits[rows].argmax(1) == targets[rows]
        share = float(right.double().mean())
        history = History(*(np.array([x]) for x in (losses["train"], losses["validation"], share)))
        return Learned(history, 1)


@dataclass(frozen=True, eq=False)
class Learned:
    """What was seen in each round, and which round counts (from 1)."""

    history: History
    best_epoch: int


@runtime_checkable
class Learner(Protocol):
    """A module that fits itself; its state is in its buffers, ``forward`` gives logits (N, C)."""

    def learn(self, lesson: Lesson) -> Learned:
        """Fit the state to the training nodes."""
        ...
