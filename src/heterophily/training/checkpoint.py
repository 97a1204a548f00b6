"""A training that may be killed at any moment: the last epoch as one file, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from heterophily.data.atomic import atomic_path

_STORY = "story"
_DIGEST = 32  # bytes of the checksum at the end of the file


class Checkpoint:
    """Model, optimiser, best state and what was seen so far; nothing in the file is executed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        best: Mapping[str, Tensor] | None,
        story: Mapping[str, Any],
    ) -> None:
        """Write the state after an epoch; the file before it stays until this one is whole."""
        tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in (best or {}).items()}
        for number, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"optimizer/{number}/{name}"] = torch.as_tensor(value)
        text = json.dumps(dict(story)).encode("utf-8")
        tensors[_STORY] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        content = save(
            {name: value.detach().contiguous().clone() for name, value in tensors.items()}
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(self.path) as temporary:
            temporary.write_bytes(content + hashlib.sha256(content).digest())

    def load(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[dict[str, Any], dict[str, Tensor] | None] | None:
        """Bring model and optimiser back; return story and best state.

        None without a file, or with one that is damaged: then the training begins again.
        """
        try:
            whole = self.path.read_bytes()
        except OSError:
            return None
        content, digest = whole[:-_DIGEST], whole[-_DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            return None
        try:
            tensors = load(content)
        except SafetensorError:
            return None
        story = json.loads(bytes(tensors.pop(_STORY).tolist()).decode("utf-8"))
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
        for name, value in tensors.items():
            kind, _, rest = name.partition("/")
            parts[kind][rest] = value
        model.load_state_dict(parts["model"])
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["optimizer"].items():
            number, _, rest = name.partition("/")
            states.setdefault(int(number), {})[rest] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": states})
        return story, parts["best"] or None

    def remove(self) -> None:
        """Forget the training; it is finished."""
        self.path.unlink(missing_ok=True)
