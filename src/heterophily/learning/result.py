"""What a training run leaves behind: a value detached from the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

Status = Literal["stopped", "max-epochs", "diverged"]


@dataclass(frozen=True, eq=False)
class History:
    """What was seen in each epoch: three arrays of shape (epochs,).

    The training loss is that of the step (with dropout); the validation values are those of the
    evaluation after it.
    """

    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64]
    validation_accuracy: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of epochs."""
        return len(self.train_loss)


@dataclass(frozen=True, eq=False)
class FitResult:
    """What one training gives: accuracies, losses of each epoch, predictions, weights.

    Parameters
    ----------
    seed
        Seed of initialisation and dropout.
    status
        ``"stopped"`` by the stopping rule, ``"max-epochs"``, or ``"diverged"``: the loss stopped
        being a finite number and the best epoch before that is reported.
    epochs
        Number of epochs trained.
    best_epoch
        The reported epoch, counted from 1; 0 when the run diverged in its first epoch (the
        accuracies are then NaN).
    validation_loss, validation_accuracy, test_accuracy
        Values at the best epoch; accuracies are fractions.
    predictions
        (N,) predicted class of every node at the best epoch.
    logits
        (N, C) output of the network at the best epoch, in float32; ``None`` when no epoch was
        finite, or the caller did not want the state.
    state
        Parameters and buffers at the best epoch (for ``load_state_dict``), or ``None`` if the
        caller did not want them.
    seconds
        Wall time of the epochs.
    peak_memory_mb
        Peak resident memory, in MiB, of the process that trained, up to the end of this run; on
        a GPU the peak allocated device memory.
    """

    seed: int
    status: Status
    epochs: int
    best_epoch: int
    validation_loss: float
    validation_accuracy: float
    test_accuracy: float
    predictions: NDArray[np.int64]
    logits: NDArray[np.float32] | None
    state: Mapping[str, Tensor] | None
    history: History
    seconds: float
    peak_memory_mb: float

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """(N, C) probabilities of the classes at the best epoch, in float64."""
        return None if self.logits is None else softmax(self.logits)

    @property
    def seconds_per_epoch(self) -> float:
        """Wall time of one epoch: training step, evaluation, bookkeeping."""
        return self.seconds / max(self.epochs, 1)


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the probabilities (N, C) of logits, in float64.

    >>> softmax(np.zeros((1, 2), np.float32)).tolist()
    [[0.5, 0.5]]
    """
    raised = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True))
