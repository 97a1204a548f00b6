"""What trained a run: engine, version of its numerics, instruction set."""

from __future__ import annotations

import sys

from heterophily.engine.library import engine


def engine_version(name: str, numerics: int) -> str:
    """Return for example ``native-4/avx2``; the part after the stroke is this machine's.

    Native results do not depend on it. Those of torch do: its kernels and its matrix library choose
    their code, and so the order of their sums, by the processor.

    >>> engine_version("native", 4).partition("/")[0]
    'native-4'
    """
    return f"{name}-{numerics}/{_native() if name == 'native' else _torch()}"


def _native() -> str:
    return engine().isa or "none"


def _torch() -> str:
    torch = sys.modules.get("torch")  # loaded by whoever trained with it
    return "not loaded" if torch is None else torch.backends.cpu.get_cpu_capability().lower()
