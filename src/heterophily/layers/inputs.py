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
from heterophily.layers.feature_scaling import (
    FEATURE_KINDS,
    SPARSE_BELOW,
    ColumnScale,
    FeatureKind,
    feature_kind,
    row_normalized,
)
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures

if TYPE_CHECKING:
    from heterophily.data.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """How a graph becomes tensors.

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
        the models of the table.
    with_structure
        Whether A itself is prepared as well, for the structure channel ``A W_A``.
    edge_direction
        Of a directed graph: a node hears those it points to (``"given"``), those that point to it
        (``"reversed"``), or both. An undirected graph stays as it is.
    """

    normalization: Literal["random-walk", "symmetric"] = "random-walk"
    renormalize: bool = True
    row_normalize: bool = True
    with_structure: bool = False
    edge_direction: EdgeDirection = "given"
    features: Literal["auto"] | FeatureKind = "auto"

    def __post_init__(self) -> None:
        """Refuse an unknown normalisation, direction or kind of features."""
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

    def on(self, graph: Graph) -> InputOptions:
        """Return the same options with what ``"auto"`` means on a graph."""
        return self if self.features != "auto" else replace(self, features=feature_kind(graph))


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The tensors of one graph: features, Â and, if asked for, A. Only read by models.

    ``features`` are sparse when at most a quarter of them is nonzero; ``columns`` is the scale of
    numbers; ``remarks`` tells what a user should know about the preparation.

    >>> from heterophily.data.graph import Graph
    >>> graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> inputs = GraphInputs.from_graph(graph, InputOptions())
    >>> inputs.num_features, inputs.remarks
    (3, ('the graph has no features: every node gets its own indicator feature',))
    """

    features: SparseFeatures | Tensor  # (N, F)
    operator: Propagation  # (N, N)
    structure: Propagation | None
    num_nodes: int
    num_features: int
    remarks: tuple[str, ...] = ()
    columns: ColumnScale | None = None

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
            remarks = ("the graph has no features: every node gets its own indicator feature",)
        if options.features == "numbers":
            columns = columns or ColumnScale.fit(features)
            features = columns.apply(features)
        elif options.features == "counts" and options.row_normalize:
            features = row_normalized(features)
        if not sp.issparse(features):
            share = np.count_nonzero(features) / max(1, features.size)
            features = sp.csr_array(features) if share <= SPARSE_BELOW else features
        adjacency = graph.adjacency
        if graph.is_directed:
            adjacency = turned(adjacency, options.edge_direction)
        operator = normalized_adjacency(
            adjacency, kind=options.normalization, renormalize=options.renormalize
        )
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
        )
