"""Which engine trains: the native one where it can, torch otherwise, and never silently."""

from __future__ import annotations

from typing import Any

from heterophily.errors import InputError, lookup
from heterophily.training.device import as_device

ENGINES = {
    "auto": "native where the model is covered, else torch",
    "native": "the C++ engine, or an error that says what it does not cover",
    "torch": "PyTorch",
}


def native_or_note(engine: str, device: Any, *, is_weighted: bool = False) -> Any:
    """Return the module of the native engine, or a text: why it is not used ("": not wanted)."""
    lookup(ENGINES, "engine", engine)
    if engine == "torch":
        return ""
    if as_device(device).type != "cpu":
        return refused(engine, "it runs on the CPU only")
    if is_weighted:
        return refused(engine, "class weights run in torch")
    from heterophily.engine import run  # only here, so that torch alone works without it
    from heterophily.engine.library import engine as loaded

    found = loaded()
    return refused(engine, found.reason) if found.library is None else run


def refused(engine: str, reason: str) -> str:
    """Return the note for ``auto``; raise for ``native``. No reason: neither engine has a part."""
    if engine == "native":
        why = reason or "this model is not trained by gradient steps"
        raise InputError(f"engine='native': {why}; use engine='torch' or 'auto'")
    return f"trained with torch, not with the native engine: {reason}" if reason else ""
