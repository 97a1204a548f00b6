"""Which epoch is reported: a score of the validation set, higher is better, ties to the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

SELECTION_SCORES: Mapping[str, Callable[[float, float], float]] = {
    "validation-loss": lambda loss, accuracy: -loss,
    "validation-accuracy": lambda loss, accuracy: accuracy,
}
"""Name -> score of (validation loss, validation accuracy)."""
