"""How weights begin. Every draw comes from PyTorch's global generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from heterophily.errors import lookup

Initialization = Literal["fan-out", "glorot"]


def _fan_out(fan_in: int, fan_out: int) -> float:
    return 1.0 / math.sqrt(fan_out)


def _glorot(fan_in: int, fan_out: int) -> float:
    return math.sqrt(6.0 / (fan_in + fan_out))


BOUNDS: dict[str, Callable[[int, int], float]] = {"fan-out": _fan_out, "glorot": _glorot}


def initialize(weight: Tensor, kind: Initialization = "fan-out") -> Tensor:
    r"""Fill the last two axes (fan in, fan out) of a weight from a symmetric uniform law.

    ``"fan-out"``: bound :math:`1/\sqrt{\text{fan out}}`, what the released code does for every
    weight (so mixing vectors, of one column, begin in (-1, 1)); the paper does not say.
    ``"glorot"``: bound :math:`\sqrt{6 / (\text{fan in} + \text{fan out})}`.

    >>> bool(initialize(torch.empty(9, 4)).abs().max() <= 0.5)
    True
    """
    return draw_uniform(
        weight, lookup(BOUNDS, "initialization", kind)(weight.shape[-2], weight.shape[-1])
    )


@torch.no_grad()
def draw_uniform(weight: Tensor, bound: float) -> Tensor:
    """Fill a tensor from the uniform law on (-bound, bound): the same numbers on every processor.

    ``weight.uniform_(-bound, bound)`` rounds once where torch was compiled with fused multiply-add
    (AVX2, AVX-512) and twice elsewhere. For float32 product and sum are exact in float64 (48 bits),
    so that one rounding is left; the numbers are those of the fused instruction.

    >>> float(draw_uniform(torch.empty(1000), 0.25).abs().max()) <= 0.25
    True
    """
    if weight.dtype != torch.float32:
        return weight.uniform_().mul_(2.0 * bound).sub_(bound)
    low = -torch.tensor(bound, dtype=torch.float32).double()
    return weight.copy_(weight.uniform_().double().mul_(-2.0 * low).add_(low))
