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
    bound = lookup(BOUNDS, "initialization", kind)(weight.shape[-2], weight.shape[-1])
    with torch.no_grad():
        return weight.uniform_(-bound, bound)
