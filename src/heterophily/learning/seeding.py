"""One stream of random numbers per replica, and arithmetic that does not depend on the machine's
number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import numpy as np
import torch

from heterophily.errors import InputError

TORCH_DRAWS = RLock()
"""Held by whoever draws from torch's generator: the whole process has only one of it."""

_REPLICA = 1  # spawn key: splits draw from (seed, index) itself, replicas from this child of it


def replica_seed(seed: int, index: int) -> int:
    """Return the seed of replica ``index`` under the user's ``seed``: independent of its split.

    >>> replica_seed(0, 0) == replica_seed(0, 0), replica_seed(0, 0) == replica_seed(0, 1)
    (True, False)
    """
    if seed < 0:
        raise InputError(f"seed={seed}; seeds are not negative")
    return int(np.random.SeedSequence([seed, index], spawn_key=(_REPLICA,)).generate_state(1)[0])


@contextmanager
def reproducible(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch for one replica on one thread; afterwards everything is as it was before.

    Torch has one generator and one number of threads for the whole process: other threads of it
    that come here, or that build a network of their own, wait.
    """
    devices = [device] if device.type == "cuda" else []
    with TORCH_DRAWS, torch.random.fork_rng(devices):
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(1)
            torch.manual_seed(seed)
            yield
        finally:
            torch.set_num_threads(threads)
