"""Modules whose state is fitted by an algorithm: buffers that may have another size each time."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


class Fitted(nn.Module):
    """A module whose buffers take the size of the state that is loaded into them.

    >>> import torch
    >>> class Table(Fitted):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.register_buffer("rows", torch.zeros(0))
    >>> table = Table()
    >>> table.load_state_dict({"rows": torch.ones(3)})
    <All keys matched successfully>
    >>> table.rows.tolist()
    [1.0, 1.0, 1.0]
    """

    def _load_from_state_dict(
        self, state_dict: dict[str, Tensor], prefix: str, *others: Any
    ) -> None:
        for name, buffer in list(self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and buffer is not None:
                setattr(self, name, given.new_empty(given.shape, dtype=buffer.dtype))
        super()._load_from_state_dict(state_dict, prefix, *others)
