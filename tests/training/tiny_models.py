"""Small models that worker processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import torch
from torch import Tensor, nn


class TinyMlp(nn.Module):
    def __init__(self, num_features: int, num_classes: int, dropout: float = 0.5) -> None:
        super().__init__()
        self.hidden = nn.Linear(num_features, 8)
        self.out = nn.Linear(8, num_classes)
        self.dropout = dropout

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = torch.relu(self.hidden(inputs))
        hidden = nn.functional.dropout(hidden, self.dropout, training=self.training)
        return self.out(hidden)


class Constant(nn.Module):
    """The same logits for every node: everything is known by hand."""

    def __init__(self, logits: list[float]) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.logits.expand(len(inputs), -1)


class Explodes(nn.Module):
    """Finite logits for the first ``good`` forwards, then NaN."""

    def __init__(self, good: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, 3))
        self.good = good

    def forward(self, inputs: Tensor) -> Tensor:
        self.good -= 1
        return self.weight.expand(len(inputs), 3) * (1.0 if self.good >= 0 else float("nan"))


class Exploding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        raise RuntimeError("no such thing")


def dies_once(marker: str) -> nn.Module:
    """Kill the worker at the first call; a marker file remembers it."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return TinyMlp(6, 3)


def dies_always() -> nn.Module:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def reports_and_sleeps(marker: str) -> nn.Module:
    Path(marker).write_text(str(os.getpid()))
    time.sleep(600)
    raise AssertionError
