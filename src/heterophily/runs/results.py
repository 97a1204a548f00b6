"""A finished run as a fit result: from its record and what it left."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch

from heterophily.learning.result import FitResult, History, Status
from heterophily.runs.artefacts import Kept
from heterophily.runs.record import Record

_NOTHING = np.zeros(0)


def result_of(record: Record, kept: Kept) -> FitResult:
    """Return what ``fit`` returned when the run was trained, as far as it was kept."""
    outcome = record.outcome
    history, logits, state = (kept.get(kind, {}) for kind in ("history", "logits", "state"))
    return FitResult(
        seed=int(record.run["seed"]),
        status=cast(Status, outcome.status),
        epochs=outcome.epochs,
        best_epoch=outcome.best_epoch,
        validation_loss=_number(outcome.validation_loss),
        validation_accuracy=_number(outcome.validation_accuracy),
        test_accuracy=_number(outcome.test_accuracy),
        predictions=logits.get("predictions", np.zeros(0, np.int64)),
        logits=logits.get("logits"),
        state={name: _tensor(value) for name, value in state.items()} or None,
        history=History(
            history.get("train_loss", _NOTHING),
            history.get("validation_loss", _NOTHING),
            history.get("validation_accuracy", _NOTHING),
        ),
        seconds=outcome.seconds,
        peak_memory_mb=outcome.peak_memory_mb,
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _tensor(value: Any) -> torch.Tensor:
    return torch.from_numpy(value if value.flags.writeable else value.copy())
