"""A portrait: what a trained model shows of itself on one split. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.splits import Split
from heterophily.evaluation.run_scores import run_scores
from heterophily.learning.result import softmax
from heterophily.runs.artefacts import Kept
from heterophily.runs.record import Record

Floats32 = NDArray[np.float32]

PORTRAIT_KINDS = ("history", "logits", "channels")
"""What a run must leave for its portrait."""


@dataclass(frozen=True, eq=False)
class Portrait:
    """One finished run seen from inside: everything the figures draw.

    Parameters
    ----------
    record
        The finished run: key, description and outcome.
    train_nodes
        Number of training nodes.
    labels
        (N,) classes; -1 = unlabelled.
    test
        (N,) mask of the test nodes.
    predictions
        (N,) predicted class of every node at the best epoch.
    logits
        (N, C) output of the network at the best epoch.
    train_loss, validation_loss, validation_accuracy
        (epochs,) what was seen while training.
    channels
        Names of the K channels; empty for models without adaptive mixing.
    weights
        Mixing weights alpha of each layer, (N, K).
    outputs
        The K channels of the last mixing layer before they are mixed, (N, H) each.
    """

    record: Record
    train_nodes: int
    labels: NDArray[np.int64]
    test: NDArray[np.bool_]
    predictions: NDArray[np.int64]
    logits: Floats32
    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64]
    validation_accuracy: NDArray[np.float64]
    channels: tuple[str, ...] = ()
    weights: tuple[Floats32, ...] = ()
    outputs: tuple[Floats32, ...] = ()

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.record.run["model"])

    @property
    def graph(self) -> str:
        """Name of the graph."""
        return str(self.record.run["graph"]["name"])

    @property
    def split(self) -> int:
        """Number of the split."""
        return int(self.record.run["split"]["index"])

    @property
    def test_accuracy(self) -> float:
        """Test accuracy at the reported epoch."""
        assert self.record.outcome.test_accuracy is not None  # a diverged run has no portrait
        return self.record.outcome.test_accuracy

    @classmethod
    def of(cls, record: Record, kept: Kept, labels: NDArray[np.int64], split: Split) -> Portrait:
        """Make a portrait of a record and of what its run left (:data:`PORTRAIT_KINDS`)."""
        history, logits, channels = (kept[kind] for kind in PORTRAIT_KINDS)
        if record.outcome.scores is None:
            scores = run_scores(labels, softmax(logits["logits"]), split)
            record = replace(record, outcome=replace(record.outcome, scores=scores))
        described = record.run["resolved"]
        names = [*described.get("channels", ())]
        names += ["structure"] if described.get("with_structure") else []
        return cls(
            record=record,
            train_nodes=int(split.train.sum()),
            labels=labels,
            test=split.test,
            predictions=logits["predictions"],
            logits=logits["logits"],
            train_loss=history["train_loss"],
            validation_loss=history["validation_loss"],
            validation_accuracy=history["validation_accuracy"],
            channels=tuple(map(str, names)) if channels else (),
            weights=_numbered(channels, "weights_"),
            outputs=_numbered(channels, "outputs_"),
        )


def _numbered(arrays: Mapping[str, NDArray[Any]], prefix: str) -> tuple[Floats32, ...]:
    count = sum(name.startswith(prefix) for name in arrays)
    return tuple(arrays[f"{prefix}{number}"] for number in range(count))
