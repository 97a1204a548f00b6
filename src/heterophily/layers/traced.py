"""When a tensor may only meet operations that PyTorch itself can follow."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad


def is_traced(tensor: Tensor) -> bool:
    """Return whether a compiler, an exporter or a transform of PyTorch follows the arithmetic.

    Then values cannot be looked at, and gradients that are written out by hand are not
    understood: layers use plain operations instead. Covered are ``torch.compile``,
    ``torch.export``, ``torch.jit.trace``, ``torch.func``, forward-mode differentiation, tensors
    without values (meta) and subclasses of ``Tensor``.

    >>> is_traced(torch.ones(1)), is_traced(torch.ones(1, device="meta"))
    (False, True)
    """
    if torch.compiler.is_compiling():
        return True
    return (
        tensor.is_meta
        or type(tensor) not in (Tensor, nn.Parameter)
        or torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
        or torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
    )
