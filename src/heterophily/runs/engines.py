"""Which engine trains a run: the native one where it can, torch otherwise, and never silently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heterophily.errors import InputError, lookup
from heterophily.native.library import engine as native_library

if TYPE_CHECKING:
    from heterophily.engine.buffers import GraphBuffers
    from heterophily.models.spec import ModelSpec
    from heterophily.training.config import TrainConfig
    from heterophily.training.replica import Engine

ENGINES = {
    "auto": "native where the model is covered, else torch",
    "native": "the C++ engine, or an error that says what it does not cover",
    "torch": "PyTorch",
}


def engine_for(
    spec: ModelSpec, asked: str, *, device: str = "cpu", config: TrainConfig | None = None
) -> tuple[str, str]:
    """Return the engine that trains a model, and why it is torch although another was welcome.

    A run names its engine, because the roundings and dropout masks of the two differ.
    """
    lookup(ENGINES, "engine", asked)
    if asked == "torch":
        return "torch", ""
    reason = why_torch(spec, device=device, config=config)
    if reason is None:
        return "native", ""
    if asked == "native":
        why = reason or "this model is not trained by gradient steps"
        raise InputError(f"engine='native': {why}; use engine='torch' or 'auto'")
    return "torch", f"trained with torch, not with the native engine: {reason}" if reason else ""


def why_torch(
    spec: ModelSpec, *, device: str = "cpu", config: TrainConfig | None = None
) -> str | None:
    """Return why the native engine cannot train a model here, or None if it can.

    The reason is empty for a model that fits itself: neither engine has a part in it.
    """
    from heterophily.training.device import as_device

    if as_device(device).type != "cpu":
        return "it runs on the CPU only"
    if config is not None and config.batches != "full":
        return ""  # mini-batches are torch's
    found = native_library()
    if found.library is None:
        return found.reason
    from heterophily.engine.plan import covers

    return covers(spec, config)


def engine_of(name: str, buffers: GraphBuffers | None) -> Engine | None:
    """Return what trains in place of torch for a run that names its engine; None: torch."""
    if name == "torch":
        return None
    found = native_library()
    if found.library is None:
        raise InputError(f"engine='native': {found.reason}; use engine='torch' or 'auto'")
    from heterophily.engine.run import NativeEngine

    return NativeEngine(buffers)


def native_buffers(inputs: Any, labels: Any, num_classes: int) -> GraphBuffers | None:
    """Return what the native engine reads of a graph; None without the engine."""
    if native_library().library is None:
        return None
    from heterophily.engine.buffers import GraphBuffers

    return GraphBuffers(inputs, labels, num_classes)
