"""The parameters and buffers of a torch model as one vector, and where each of them lies in it."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.errors import InputError

_DTYPES = (torch.float32, torch.float64)


class NotCoveredError(InputError):
    """The native engine does not know this model; the message says what is not covered."""


class FlatParameters:
    """The parameters of a model one after the other, then its buffers.

    Parameters
    ----------
    model
        Its parameters are read now; they are the first weights of a run.
    """

    def __init__(self, model: nn.Module) -> None:
        for name, parameter in model.named_parameters():
            if parameter.dtype not in _DTYPES or not parameter.requires_grad:
                raise NotCoveredError(f"parameter {name} is {parameter.dtype} or frozen")
        self.dtype = next(model.parameters()).dtype
        self._places: dict[int, int] = {}
        self._kinds: dict[str, tuple[torch.Size, torch.dtype]] = {}
        self.size = 0
        parts = []
        for name, value in (*model.named_parameters(), *model.named_buffers()):
            self._places[id(value)] = self.size
            self._kinds[name] = value.shape, value.dtype
            self.size += value.numel()
            parts.append(value.detach().reshape(-1).to(self.dtype))
        self.initial: NDArray[Any] = np.ascontiguousarray(torch.cat(parts).numpy())

    def place(self, value: Tensor | None) -> int:
        """Return where a parameter or a buffer begins; -1 for None."""
        return -1 if value is None else self._places[id(value)]

    def state(self, flat: NDArray[Any]) -> dict[str, Tensor]:
        """Return such a vector in the layout of ``state_dict``."""
        sizes = [shape.numel() for shape, _ in self._kinds.values()]
        parts = torch.split(torch.from_numpy(flat.copy()), sizes)
        pairs = zip(self._kinds.items(), parts, strict=True)
        return {name: part.view(shape).to(dtype).clone() for (name, (shape, dtype)), part in pairs}


def address(array: NDArray[Any] | None) -> int | None:
    """Return where an array's data lie, for a struct."""
    return None if array is None else array.ctypes.data


def pointer(struct: ctypes.Structure) -> Any:
    """Return a pointer to a struct that the caller keeps alive."""
    return ctypes.pointer(struct)
