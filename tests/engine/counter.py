"""The engine's dropout masks in NumPy, and a way to make torch use them.

A mask is a function of (seed, step, site, entry): nothing is drawn, so any order of evaluation
and any number of threads gives the same mask. ``site`` numbers the calls of dropout within a
forward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heterophily.layers import dropout as torch_dropout

LEVELS = 2**16
_MASK64 = 2**64 - 1


def _split_mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK64
    return x ^ (x >> 31)


def kept_levels(rate: float) -> int:
    """Return how many of 65,536 levels keep an entry."""
    return max(1, round((1.0 - rate) * LEVELS))


def counter_mask(seed: int, step: int, site: int, rate: float, count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` entries dropout keeps.

    >>> counter_mask(0, 1, 0, 0.5, 8).astype(int).tolist()
    [1, 0, 0, 0, 1, 0, 1, 0]
    """
    key = _split_mix((_split_mix((_split_mix(seed) + step) & _MASK64) + site) & _MASK64)
    x = np.arange(count, dtype=np.uint64).astype(np.uint32)
    x = (x ^ np.uint32(key & 0xFFFFFFFF)) * np.uint32(0x9E3779B1)
    x = (x ^ (x >> np.uint32(15))) + np.uint32(key >> 32)
    x = x * np.uint32(0x85EBCA77)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE3D)
    x = x ^ (x >> np.uint32(16))
    return (x >> np.uint32(16)) < kept_levels(rate)


class CounterDropout:
    """While entered, torch's layers drop what the engine would drop.

    Call :meth:`begin` before each training step. Used to compare both engines; not thread-safe.
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.step, self.site = seed, 0, 0

    def begin(self, step: int) -> None:
        """Start the masks of a step, counted from 1."""
        self.step, self.site = step, 0

    def mask(self, shape: torch.Size, rate: float, dtype: torch.dtype) -> Tensor:
        """Return 0 for a dropped entry and 1 / (share of kept entries) for a kept one."""
        kept = counter_mask(self.seed, self.step, self.site, rate, shape.numel())
        self.site += 1
        return torch.from_numpy(kept).to(dtype).mul_(LEVELS / kept_levels(rate)).view(shape)

    def __enter__(self) -> CounterDropout:
        """Take the place of the masks drawn from torch's generator."""
        self._before = torch_dropout._mask
        torch_dropout._mask = self.mask
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Put them back."""
        torch_dropout._mask = self._before


@contextmanager
def replaying(seed: int) -> Iterator[CounterDropout]:
    """Open a :class:`CounterDropout`."""
    with CounterDropout(seed) as masks:
        yield masks
