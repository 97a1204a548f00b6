"""What trained a run: engine, version of its numerics, and what of the machine may matter."""

from __future__ import annotations

import os
import sys

from heterophily.native.library import engine, processor_vendor

_MKL_VARIABLE = "MKL_CBWR"  # which code Intel's matrix library takes, whatever the processor


def engine_version(name: str, numerics: int) -> str:
    """Return for example ``native-4/avx2`` or ``torch-1/avx2/AuthenticAMD``.

    What follows the first stroke belongs to this machine. Native results do not depend on it. Those
    of torch do: its kernels choose their code by the instruction set, its matrix library (MKL) by
    instruction set and vendor, and with it the order of their sums.

    >>> engine_version("native", 4).partition("/")[0]
    'native-4'
    """
    parts = _native() if name == "native" else _torch()
    return "/".join([f"{name}-{numerics}", *parts])


def _native() -> list[str]:
    return [engine().isa or "none"]


def _torch() -> list[str]:
    torch = sys.modules.get("torch")  # loaded by whoever trained with it
    capability = "?" if torch is None else torch.backends.cpu.get_cpu_capability().lower()
    chosen = os.environ.get(_MKL_VARIABLE)
    return [capability, processor_vendor(), *([f"{_MKL_VARIABLE}={chosen}"] if chosen else [])]
