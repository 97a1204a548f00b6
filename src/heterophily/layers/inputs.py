"""What a model receives: a graph prepared once as tensors, shared by all replicas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.filters.direction import EDGE_DIRECTIONS, EdgeDirection, turned
from heterophily.filters.normalization import NORMALIZATIONS, normalized_adjacency
from heterophily.layers.averaged_features import Averages
from heterophily.layers.feature_scaling import (
    FEATURE_KINDS,
    SPARSE_BELOW,
    ColumnScale,
    FeatureKind,
    feature_kind,
    has_unequal_rows,
    row_normalized,
    within_range,
)
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures

if TYPE_CHECKING:
    from heterophily.data.graph import Graph


@dataclass(frozen=True, slots=True)
class GraphTraits:
    """What options may leave to the graph: the kind of its features, the types of its edges.

    ``has_unequal_rows`` says of counts that rows differ much in size.
    """

    features: FeatureKind
    edge_types: tuple[str, ...]
    has_unequal_rows: bool = False

    @classmethod
    def of(cls, graph: Graph) -> GraphTraits:
        """Look at a graph."""
        kind = feature_kind(graph)
        is_unequal = (
            kind == "counts" and graph.num_features > 0 and has_unequal_rows(graph.features)
        )
        return cls(kind, graph.type_names, is_unequal)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """Options of turning a graph into tensors: normalisation, loops, scaling of features.

    Parameters
    ----------
    normalization
        Â as random walk :math:`\\tilde D^{-1} \\tilde A` (the paper's choice) or symmetric.
    renormalize
        Whether loops are added (Ã = A + I) before normalising.
    features
        What X holds. ``"counts"``: a bag of words, see ``row_normalize``; ``"numbers"``: columns
        get mean 0 and deviation 1, those of the graph a model is trained on; ``"as-given"``: X is
        not changed. ``"auto"`` is decided by the graph
        (:func:`~heterophily.layers.feature_scaling.feature_kind`).
    row_normalize
        Whether rows of counts are divided by the sum of their absolute values; zero rows stay zero.
        The released code does so except for ACM-GCN+ and ++ with the structure channel, and so do
        the models of the table. Commands leave rows as they are where their sizes differ much
        (:func:`~heterophily.layers.feature_scaling.has_unequal_rows`), unless a preset or this
        option is given.
    with_structure
        Whether A itself is prepared as well, for the structure channel ``A W_A``.
    edge_direction
        Of a directed graph: a node hears those it points to (``"given"``), those that point to it
        (``"reversed"``), or both. An undirected graph stays as it is.
    edge_types
        Names of the types of edges that are prepared one by one beside all edges together; None:
        those of the graph.
    """

    normalization: Literal["random-walk", "symmetric"] = "random-walk"
    renormalize: bool = True
    row_normalize: bool = True
    with_structure: bool = False
    edge_direction: EdgeDirection = "given"
    features: Literal["auto"] | FeatureKind = "auto"
    edge_types: tuple[str, ...] | None = ()

    def __post_init__(self) -> None:
        """Refuse an unknown normalisation, direction or kind of features."""
        if self.edge_types is not None:
            object.__setattr__(self, "edge_types", tuple(self.edge_types))
        if self.normalization not in NORMALIZATIONS:
            raise InputError(
                f"normalization={self.normalization!r}; choose {' or '.join(NORMALIZATIONS)}"
            )
        if self.edge_direction not in EDGE_DIRECTIONS:
            raise InputError(
                f"edge_direction={self.edge_direction!r}; choose one of "
                f"{', '.join(EDGE_DIRECTIONS)}"
            )
        if self.features != "auto" and self.features not in FEATURE_KINDS:
            raise InputError(
                f"features={self.features!r}; choose one of auto, {', '.join(FEATURE_KINDS)}"
            )

    @property
    def open_names(self) -> tuple[str, ...]:
        """Names of the options that are left to the graph."""
        is_open = {"features": self.features == "auto", "edge_types": self.edge_types is None}
        return tuple(name for name, found in is_open.items() if found)

    def on(self, graph: Graph) -> InputOptions:
        """Return the same options with what is left to the graph."""
        if not self.open_names:
            return self
        traits = GraphTraits.of(graph)
        return replace(self, **{name: getattr(traits, name) for name in self.open_names})


@dataclass(frozen=True, eq=False)
class LayerStep:
    """What one layer sees of a sampled neighbourhood.

    The nodes of the step come in an order in which those that the next layer needs are the first
    ``num_targets``; ``operator`` (n, n) has entries in their rows alone.
    """

    operator: Propagation
    num_targets: int


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """What models read of a graph, as tensors: features, Â and, if asked for, A.

    ``typed`` holds Â of each type of edges that was asked for.

    ``features`` are sparse when at most a quarter of them is nonzero; ``columns`` is the scale of
    numbers; ``remarks`` tells what a user should know about the preparation. ``steps``, if there
    are any, are those of a sampled neighbourhood, one for each layer: a layer asks for its inputs
    by :meth:`at` and returns what :meth:`kept` leaves of its output. ``averages``, if given, are
    the rows of ÂX for the same nodes: the first layer reads them and needs no step.

    >>> from heterophily.data.graph import Graph
    >>> graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> inputs = GraphInputs.from_graph(graph, InputOptions())
    >>> inputs.num_features, inputs.remarks
    (3, ('the graph has no features: each node gets a feature of its own',))
    """

    features: SparseFeatures | Tensor  # (N, F)
    operator: Propagation  # (N, N)
    structure: Propagation | None
    num_nodes: int
    num_features: int
    remarks: tuple[str, ...] = ()
    columns: ColumnScale | None = None
    typed: tuple[Propagation, ...] = ()
    steps: tuple[LayerStep, ...] = ()
    averages: Averages | None = None  # (N, F)

    def at(self, layer: int) -> GraphInputs:
        """Return the inputs of a layer, counted from 0: these, or one step of a sample."""
        if not self.steps:
            return self
        if layer >= len(self.steps):
            raise InputError(
                f"layer {layer + 1} asks for neighbours, but {len(self.steps)} layers were sampled"
            )
        return replace(self, operator=self.steps[layer].operator, steps=self.steps[layer:][:1])

    def kept(self, state: Tensor) -> Tensor:
        """Return the rows (n, H) that the next layer needs: all, but in a step of a sample."""
        return state[: self.steps[0].num_targets] if self.steps else state

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        options: InputOptions | None = None,
        *,
        columns: ColumnScale | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> GraphInputs:
        """Normalise the adjacency and the features of a graph and copy them to a device.

        ``columns`` is the scale of the graph that a model was trained on, where the features are
        numbers; by default it is measured here.
        """
        options = (options or InputOptions()).on(graph)
        remarks: tuple[str, ...] = ()
        features: Any = graph.features
        if features is None or features.shape[1] == 0:
            features = sp.eye_array(graph.num_nodes, format="csr")
            remarks = ("the graph has no features: each node gets a feature of its own",)
        if options.features == "numbers":
            columns = columns or ColumnScale.fit(features)
            features = columns.apply(features)
        elif options.features == "counts" and options.row_normalize:
            features = row_normalized(features)
        features, cut = within_range(features, torch.finfo(dtype).max / 4)
        remarks += cut
        if not sp.issparse(features):
            share = np.count_nonzero(features) / max(1, features.size)
            features = sp.csr_array(features) if share <= SPARSE_BELOW else features
        adjacency = graph.adjacency
        if graph.is_directed:
            adjacency = turned(adjacency, options.edge_direction)
        normalization: dict[str, Any] = {
            "kind": options.normalization, "renormalize": options.renormalize
        }  # fmt: skip
        operator = normalized_adjacency(adjacency, **normalization)
        parts = _typed_adjacencies(graph, options)
        tensors: SparseFeatures | Tensor
        if sp.issparse(features):
            tensors = SparseFeatures.from_scipy(features, dtype=dtype, device=device)
        else:
            tensors = torch.from_numpy(np.array(features)).to(device=device, dtype=dtype)
        structure = None
        if options.with_structure:
            structure = Propagation.from_scipy(adjacency, dtype=dtype, device=device)
        return cls(
            features=tensors,
            operator=Propagation.from_scipy(operator, dtype=dtype, device=device),
            structure=structure,
            num_nodes=graph.num_nodes,
            num_features=int(features.shape[1]),
            remarks=remarks,
            columns=columns if options.features == "numbers" else None,
            typed=tuple(
                Propagation.from_scipy(
                    normalized_adjacency(part, **normalization), dtype=dtype, device=device
                )
                for part in parts
            ),
        )


def _typed_adjacencies(graph: Graph, options: InputOptions) -> list[sp.csr_array]:
    """Return A of each type; a type without an edge in this graph has an empty one."""
    wanted = options.edge_types or ()
    unknown = [name for name in graph.type_names if name not in wanted]
    if wanted and (unknown or graph.edge_types is None):
        found = f"edges of type {unknown[0]!r}" if unknown else "no types of edges"
        raise InputError(
            f"{graph.name} has {found}; the types that the model knows are {', '.join(wanted)} "
            "(name their column with --edge-type)"
        )
    parts = []
    for name in wanted:
        part = sp.csr_array(graph.adjacency.shape, dtype=graph.adjacency.dtype)
        if graph.edge_types is not None and name in graph.type_names:
            part = graph.edge_types.matrix(name)
        parts.append(turned(part, options.edge_direction) if graph.is_directed else part)
    return parts
