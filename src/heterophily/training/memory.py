"""Peak memory of a training run."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")


def peak_memory_mb(device: torch.device) -> float:
    """Return the peak memory so far in MiB: of this process, or of the GPU when on one.

    On Linux the kernel's high-water mark of *this* process image is read (``getrusage`` would
    pass a parent's peak on to its worker processes). 0 where the system does not tell (Windows).
    """
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(device)) / 2**20
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
