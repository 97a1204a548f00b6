"""How much a model costs on a graph: its numbers to learn, and the operations of one pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from heterophily.data.graph import Graph
from heterophily.layers.inputs import GraphInputs
from heterophily.learning.learner import Learner
from heterophily.learning.seeding import reproducible
from heterophily.models.options import StackOptions
from heterophily.models.spec import ModelSpec

ATEN = torch.ops.aten


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What a model costs on a graph.

    ``dense`` and ``sparse`` are floating-point operations of the matrix products of one forward
    pass, an addition and a multiplication each counted. Sparse ones go through a list of nonzeros
    (Â, the structure, sparse features); everything else (activations, dropout, softmax) is linear
    in nodes and width and is left out. ``paper`` is what the formula of the paper's complexity
    section gives, for the networks that it speaks of (with all features counted, zeros too).
    """

    parameters: int
    dense: int
    sparse: int
    paper: int | None = None


def model_cost(spec: ModelSpec, graph: Graph) -> ModelCost | None:
    """Count what a model costs on a graph; None for models that fit themselves (trees, ...).

    >>> from heterophily.data.catalog import load
    >>> from heterophily.models.catalog import MODELS
    >>> karate = load("karate")
    >>> cost = model_cost(MODELS["gcn"], karate)
    >>> cost.parameters == karate.num_nodes * 64 + 64 * karate.num_classes  # no features: I
    True
    """
    if issubclass(spec.network, Learner):
        return None
    whole = spec.on(graph)
    inputs = GraphInputs.from_graph(graph, whole.inputs)
    with reproducible(0, torch.device("cpu")):
        model = whole.builder(inputs, num_classes=graph.num_classes)().eval()
    with torch.no_grad():
        model(inputs)  # what follows from the graph is worked out once, and not counted
        with _Counter() as counter:
            model(inputs)
    return ModelCost(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        dense=counter.dense,
        sparse=counter.sparse,
        paper=paper_operations(whole, graph, inputs.num_features),
    )


def paper_operations(spec: ModelSpec, graph: Graph, num_features: int) -> int | None:
    r"""Return what the paper's formula gives for GCN and ACM(II)-GCN; None for other networks.

    A layer of GCN takes :math:`2 N F_{l-1} F_l + 2 F_l\, \text{nnz}(\hat A)`, one of ACM-GCN
    :math:`N F_l (8 + 6 F_{l-1}) + 2 F_l (\text{nnz}(H_{LP}) + \text{nnz}(H_{HP})) + 18 N`. What is
    counted here is the same but for :math:`2 N F_l`, a part of the mixture that is no product.
    """
    options = spec.options
    if not isinstance(options, StackOptions) or options.with_structure:
        return None
    if options.residual != "none" or any(not isinstance(name, str) for name in options.channels):
        return None
    widths = [
        num_features,
        *[options.hidden] * (options.depth - 1),
        graph.num_classes,
    ]
    nodes, nonzeros = graph.num_nodes, int(graph.adjacency.nnz) + graph.num_nodes
    steps = list(pairwise(widths))
    if options.channels == ("low",):
        return sum(2 * nodes * before * after + 2 * after * nonzeros for before, after in steps)
    if options.channels == ("low", "high", "identity") and options.mixer == "adaptive":
        return sum(
            nodes * after * (8 + 6 * before) + 2 * after * 2 * nonzeros + 18 * nodes
            for before, after in steps
        )
    return None


class _Counter(TorchDispatchMode):
    """Adds up the operations of the matrix products that PyTorch is asked for."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dense = self.sparse = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = [value for value in args if isinstance(value, Tensor)]
        match func.overloadpacket:
            case ATEN.mm | ATEN.bmm | ATEN.mv | ATEN.dot:
                self.dense += 2 * given[0].numel() * _columns(given[1])
            case ATEN.addmm | ATEN.baddbmm | ATEN.addmv:
                self.dense += 2 * given[1].numel() * _columns(given[2])
            case ATEN._embedding_bag | ATEN._embedding_bag_forward_only:
                weights = kwargs.get("per_sample_weights") if kwargs else None
                has_weights = weights is not None or len(given) > 3
                self.sparse += (1 + has_weights) * given[1].numel() * given[0].shape[1]
            case ATEN.sparse_sampled_addmm:
                self.sparse += 2 * given[0].values().numel() * given[1].shape[1]
        return func(*args, **(kwargs or {}))


def _columns(right: Tensor) -> int:
    return int(right.shape[-1]) if right.ndim > 1 else 1
