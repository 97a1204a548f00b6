"""A portrait: what a trained model shows of itself on one split, kept as a file. No torch here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.npz_arrays import read_arrays
from heterophily.errors import InputError
from heterophily.runs.record import Outcome, Record

Floats = NDArray[np.float32]
_ARRAYS = (
    *("labels", "test", "predictions", "logits"),
    *("train_loss", "validation_loss", "validation_accuracy"),
)


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
    logits: Floats
    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64]
    validation_accuracy: NDArray[np.float64]
    channels: tuple[str, ...] = ()
    weights: tuple[Floats, ...] = ()
    outputs: tuple[Floats, ...] = ()

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

    def write(self, path: Path) -> None:
        """Write the portrait; the file appears whole or not at all."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"weights_{number}": array for number, array in enumerate(self.weights)}
        arrays |= {f"outputs_{number}": array for number, array in enumerate(self.outputs)}
        facts = {
            "record": asdict(self.record),
            "train_nodes": self.train_nodes,
            "channels": self.channels,
        }
        arrays["facts"] = np.array(json.dumps(facts))
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def read(cls, path: Path) -> Portrait:
        """Read a portrait back; a file of another kind is refused."""
        arrays = read_arrays(path)
        try:
            facts = json.loads(str(arrays["facts"]))
            kept = facts["record"]
            return cls(
                record=Record(**{**kept, "outcome": Outcome(**kept["outcome"])}),
                train_nodes=facts["train_nodes"],
                channels=tuple(facts["channels"]),
                weights=_numbered(arrays, "weights_"),
                outputs=_numbered(arrays, "outputs_"),
                **{name: arrays[name] for name in _ARRAYS},
            )
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(f"{path} is not a portrait of a run; remove it") from error


def _numbered(arrays: Mapping[str, NDArray[Any]], prefix: str) -> tuple[Floats, ...]:
    count = sum(name.startswith(prefix) for name in arrays)
    return tuple(arrays[f"{prefix}{number}"] for number in range(count))
