"""Where tensors live."""

from __future__ import annotations

import torch

from heterophily.errors import InputError


def as_device(device: str | torch.device) -> torch.device:
    """Return a usable device, or say in one sentence why it is not.

    >>> as_device("cpu")
    device(type='cpu')
    """
    try:
        place = torch.device(device)
    except RuntimeError:
        raise InputError(f"unknown device {device!r}; use cpu or cuda") from None
    if place.type not in ("cpu", "cuda"):
        raise InputError(f"unknown device {device!r}; use cpu or cuda")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r}: no usable GPU was found; use cpu")
    return place
