"""The parameters of a torch model as one vector, and where each of them lies in it."""

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
    """The parameters of a model, one after the other.

    Parameters
    ----------
    model
        Its parameters are read now; they are the first weights of a run.
    """

    def __init__(self, model: nn.Module) -> None:
        self._places: dict[int, int] = {}
        self.shapes: dict[str, torch.Size] = {}
        self.size = 0
        for name, parameter in model.named_parameters():
            if parameter.dtype not in _DTYPES or not parameter.requires_grad:
                raise NotCoveredError(f"parameter {name} is {parameter.dtype} or frozen")
            self._places[id(parameter)] = self.size
            self.shapes[name] = parameter.shape
            self.size += parameter.numel()
        self.dtype = next(model.parameters()).dtype
        joined = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy()
        self.initial: NDArray[Any] = np.ascontiguousarray(joined)

    def place(self, parameter: Tensor | None) -> int:
        """Return where a parameter begins; -1 for None."""
        return -1 if parameter is None else self._places[id(parameter)]

    def state(self, flat: NDArray[Any]) -> dict[str, Tensor]:
        """Return such a vector in the layout of ``state_dict``."""
        sizes = [shape.numel() for shape in self.shapes.values()]
        parts = torch.split(torch.from_numpy(flat.copy()), sizes)
        pairs = zip(self.shapes.items(), parts, strict=True)
        return {name: part.view(shape).clone() for (name, shape), part in pairs}


def address(array: NDArray[Any] | None) -> int | None:
    """Return where an array's data lie, for a struct."""
    return None if array is None else array.ctypes.data


def pointer(struct: ctypes.Structure) -> Any:
    """Return a pointer to a struct that the caller keeps alive."""
    return ctypes.pointer(struct)
