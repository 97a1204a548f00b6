"""Any module that takes ``(x, edge_index)``, as PyTorch Geometric's do, under our trainer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.edges import edges_of
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures
from heterophily.models.spec import ModelSpec


@dataclass(frozen=True)
class PygOptions:
    """What builds the module: ``make(num_features, num_classes, **arguments)``."""

    make: Callable[..., nn.Module]
    arguments: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        if not callable(self.make):
            raise InputError(f"make={self.make!r}; give a module class or a function that builds")


class PygNetwork(nn.Module):
    """A module on ``(x, edge_index)``, called with prepared inputs.

    ``x`` is dense; ``edge_index`` (2, E) holds both directions of every edge and no loops, as
    PyTorch Geometric's data has them (its layers add and normalise what they need).
    """

    def __init__(
        self, options: PygOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.module = options.make(num_features, num_classes, **dict(options.arguments))

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        logits = self.module(*pyg_tensors(inputs))
        wanted = (inputs.num_nodes, self.num_classes)
        if not isinstance(logits, Tensor) or tuple(logits.shape) != wanted:
            found = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise InputError(
                f"{type(self.module).__name__} returned {found}; the trainer needs logits of "
                f"shape {wanted}: one row per node, one column per class"
            )
        return logits


def pyg_model(
    make: Callable[..., nn.Module], /, *, inputs: InputOptions | None = None, **arguments: Any
) -> ModelSpec:
    """Make a PyTorch Geometric module trainable by ``train``, ``compare`` and ``tune``.

    Parameters
    ----------
    make
        Called as ``make(num_features, num_classes, **arguments)``. To train in worker processes
        it must be importable: a class or function at the top of a file.
    inputs
        How the graph becomes tensors; by default features are row-normalised.
    arguments
        Further arguments of ``make``.

    Examples
    --------
    >>> class OneMap(nn.Module):
    ...     def __init__(self, num_features, num_classes, bias):
    ...         super().__init__()
    ...         self.map = nn.Linear(num_features, num_classes, bias=bias)
    ...     def forward(self, x, edge_index):
    ...         return self.map(x)
    >>> spec = pyg_model(OneMap, bias=False)
    >>> network = spec.build(num_nodes=3, num_features=2, num_classes=2)
    >>> sum(parameter.numel() for parameter in network.parameters())
    4
    """
    chosen = InputOptions(renormalize=False) if inputs is None else inputs
    return ModelSpec(PygNetwork, PygOptions(make, tuple(sorted(arguments.items()))), chosen)


_TENSORS: WeakKeyDictionary[Propagation, tuple[Tensor, Tensor]] = WeakKeyDictionary()
_LOCK = Lock()


def pyg_tensors(inputs: GraphInputs) -> tuple[Tensor, Tensor]:
    """Return dense features (N, F) and the ``edge_index`` (2, E), made once per graph."""
    with _LOCK:
        known = _TENSORS.get(inputs.operator)
    if known is None:
        edges = edges_of(inputs.operator)
        pairs = torch.stack([edges.columns, edges.rows])
        pairs = pairs[:, pairs[0] != pairs[1]].contiguous()
        known = (_dense(inputs.features), pairs)
        with _LOCK:
            _TENSORS[inputs.operator] = known
    return known


def _dense(features: SparseFeatures | Tensor) -> Tensor:
    if isinstance(features, Tensor):
        return features
    matrix = features.matrix
    rows = torch.repeat_interleave(
        torch.arange(matrix.shape[0], device=matrix.device), matrix.indptr.diff().long()
    )
    dense = torch.zeros(matrix.shape, dtype=matrix.dtype, device=matrix.device)
    dense[rows, matrix.indices.long()] = matrix.values
    return dense
