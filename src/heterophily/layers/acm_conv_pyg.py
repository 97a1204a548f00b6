"""AcmConv as PyTorch Geometric knows layers: a ``MessagePassing`` with edge masks."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from heterophily.layers.acm_conv import AcmConv
from heterophily.layers.adjacency_input import Operator


class MaskedAcmConv(AcmConv):
    """An :class:`AcmConv` with the mask that explainers of PyTorch Geometric put on its edges.

    The mask multiplies the entries of Â, after normalisation, and those of A in the structure
    channel; a node's own share (the loops of A + I) is not masked.
    """

    explain: bool | None  # these three are set by MessagePassing
    _edge_mask: Tensor | None
    _apply_sigmoid: bool

    def _prepared(
        self, adjacency: Any, x: Tensor, edge_weight: Tensor | None
    ) -> tuple[Operator, Operator | None]:
        mask = self._edge_mask if self.explain else None
        if mask is None:
            return super()._prepared(adjacency, x, edge_weight)
        share = torch.sigmoid(mask) if self._apply_sigmoid else mask
        return self._cache.masked(adjacency, x, edge_weight, share)


@cache
def message_passing_class() -> type[AcmConv]:
    """Return the class of layers that ``to_hetero`` and the explainers recognise.

    It is made on demand, because importing PyTorch Geometric takes seconds.
    """
    from torch_geometric.nn import MessagePassing

    members = {
        "__module__": __name__,
        "__doc__": "An AcmConv that is a MessagePassing layer.",
    }
    return type("PygAcmConv", (MaskedAcmConv, MessagePassing), members)


def __getattr__(name: str) -> Any:
    """Return ``PygAcmConv``, by which pickle finds the class."""
    if name == "PygAcmConv":
        return message_passing_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
