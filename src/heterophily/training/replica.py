"""One training as a value, what many of them give, and what may train them in place of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import nn

from heterophily.data.splits import Split
from heterophily.learning.progress import Progress
from heterophily.learning.result import FitResult
from heterophily.training.config import TrainConfig


@dataclass(frozen=True, eq=False)
class Replica:
    """One training: the model to build, the split, the settings and the seed."""

    build: Callable[[], nn.Module]
    split: Split
    config: TrainConfig
    seed: int


@dataclass(frozen=True, eq=False)
class FitResults:
    """The finished results in replica order, and what became of the others.

    Parameters
    ----------
    by_replica
        Result of each finished replica, by its number.
    failures
        One sentence for each replica that was given up, by its number.
    interrupted
        Whether Ctrl-C ended the queue early.
    engine
        ``"native"`` or ``"torch"``: what ran the replicas.
    engine_note
        Why torch ran although ``engine="auto"`` asked for the native engine; else empty.
    """

    by_replica: Mapping[int, FitResult]
    failures: Mapping[int, str] = field(default_factory=dict)
    interrupted: bool = False
    engine: str = "torch"
    engine_note: str = ""

    def __len__(self) -> int:
        """Return the number of finished replicas."""
        return len(self.by_replica)

    def __iter__(self) -> Iterator[FitResult]:
        """Iterate over the finished results in replica order."""
        return (self.by_replica[number] for number in sorted(self.by_replica))


class Engine(Protocol):
    """Trains replicas on threads of this process in place of torch; the caller chooses it."""

    def train(
        self,
        replicas: Sequence[Replica],
        inputs: Any,
        labels: NDArray[np.int64],
        *,
        threads: int,
        progress: Progress | None,
        keep_state: bool,
        stop: Event | None,
    ) -> FitResults:
        """Train all replicas; a model that it does not cover is an error before any work."""
        ...
