"""Which epoch is reported: a score of the validation set, higher is better, ties to the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from heterophily.errors import InputError
from heterophily.evaluation.ranking import share_ranked_right

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Validation:
    """What an evaluation knows of the n validation nodes; logits (n, C) where they are at hand."""

    loss: float
    accuracy: float
    labels: Tensor | None = None
    logits: Tensor | None = None


def _roc_auc(seen: Validation) -> float:
    assert seen.labels is not None
    assert seen.logits is not None
    return ranked_right(seen.labels.cpu().numpy(), seen.logits)


SELECTION_SCORES: Mapping[str, Callable[[Validation], float]] = {
    "validation-loss": lambda seen: -seen.loss,
    "validation-accuracy": lambda seen: seen.accuracy,
    "validation-roc-auc": _roc_auc,
}
"""Name -> score of the validation nodes."""

RANKING = frozenset({"validation-roc-auc"})
"""The scores that need the logits."""


def ranked_right(labels: NDArray[np.int64], logits: Tensor) -> float:
    """Return the area under the ROC curve of nodes (n,) from their logits (n, C).

    Two classes: by the difference of the logits. More: one against the rest by probability, the
    mean over the classes that occur.

    >>> import torch
    >>> ranked_right(np.array([0, 1, 1]), torch.tensor([[2.0, 0.0], [3.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    found = logits.detach().double().cpu().numpy()
    if found.shape[1] == 2:
        return share_ranked_right(labels == 1, found[:, 1] - found[:, 0])
    shares = softmax(found, axis=1)
    areas = [share_ranked_right(labels == k, shares[:, k]) for k in np.unique(labels)]
    return sum(areas) / len(areas)


def check_selection(select_by: str, labels: NDArray[np.int64]) -> None:
    """Refuse to rank validation nodes, whose labels are given, if all are of one class."""
    if select_by in RANKING and np.unique(labels).size < 2:
        raise InputError(
            f"select_by={select_by!r}: the validation nodes of a split have one class only, so no "
            "ROC curve; use select_by='validation-loss' or splits with both classes"
        )
