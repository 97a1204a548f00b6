"""Dropout about three times faster than PyTorch's on a CPU, from the same global generator."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heterophily.errors import InputError

_LEVELS = 2**16  # a 64-bit draw of the generator decides four entries, 16 bits each


def check_rate(rate: float, *, name: str = "dropout") -> float:
    """Return a dropout rate in [0, 1), or say what is wrong with it."""
    if not 0.0 <= rate < 1.0:
        raise InputError(f"{name}={rate}; a dropout rate is at least 0 and below 1")
    return float(rate)


def dropout(values: Tensor, rate: float, *, training: bool) -> Tensor:
    """Zero each entry with probability ``rate`` and scale the others so that the mean is kept.

    Draws from PyTorch's global generator. On a CPU the rate is rounded to a multiple of 1/65536
    and the scale is that of the rounded rate, so the mean stays exact.

    >>> dropout(torch.ones(3), 0.5, training=False)
    tensor([1., 1., 1.])
    """
    if not training or rate == 0.0:
        return values
    if values.device.type != "cpu":
        return nn.functional.dropout(values, rate, training=True)
    return values * _mask(values.shape, rate, values.dtype)


def _mask(shape: torch.Size, rate: float, dtype: torch.dtype) -> Tensor:
    """Return 0 for a dropped entry and 1 / (share of kept entries) for a kept one."""
    kept_levels = max(1, round((1.0 - rate) * _LEVELS))
    if kept_levels == _LEVELS:
        return torch.ones(shape, dtype=dtype)
    count = shape.numel()
    words = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    lanes = words.view(torch.int16)[:count]  # uniform on -32768 .. 32767
    is_kept = lanes < kept_levels - _LEVELS // 2
    return is_kept.to(dtype).mul_(_LEVELS / kept_levels).view(shape)
