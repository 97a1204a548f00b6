"""The graph: one frozen value that every other part of the package receives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.adjacency import (
    Direction,
    EdgeNotes,
    SelfLoops,
    adjacency_from_edges,
)
from heterophily.data.checks import (
    UNLABELLED,
    as_array,
    checked_adjacency,
    checked_features,
    checked_types,
    encode_labels,
    frozen,
)
from heterophily.data.edge_types import EdgeTypes, coded, typed_adjacency
from heterophily.data.remedies import remedy
from heterophily.data.splits import PARTS, SplitBatch
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.encode.encoder import Encoder
    from heterophily.data.report import GraphReport

_HASH_BLOCK = 4096  # rows of features hashed at a time, so a dense matrix is never copied whole


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with node features and labels. It is checked when made and never changes.

    Parameters
    ----------
    adjacency
        (N, N) CSR, entries 1 or positive weights; symmetric unless ``is_directed``. Entry
        ``[u, v]`` is the edge from u to v.
    features
        (N, F) CSR or dense, finite; ``None`` when the graph has none.
    labels
        (N,) whole numbers, -1 = unlabelled. Stored as classes 0..C-1.
    class_names
        Name of each class; by default the digits of the labels.
    node_ids
        (N,) distinct integers or strings by which the user knows the nodes; default 0..N-1.
    splits
        Fixed splits that come with the data.
    name
        What to call the graph in tables and reports.
    is_directed
        Whether the adjacency matrix may be unsymmetric.
    notes
        What the importer found and did (see :class:`EdgeNotes`).
    remarks
        Further sentences of the importer, for the report.
    feature_names
        Name of each feature; ``None`` when they have none.
    encoder
        How the features were made from the columns of a table, to encode other tables alike.
    edge_types
        The edges of each type, where edges have types; ``None`` otherwise.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1])
    >>> graph
    Graph('graph', nodes=3, edges=2, features=0, classes=2)
    """

    adjacency: sp.csr_array
    features: sp.csr_array | NDArray[Any] | None = None
    labels: NDArray[np.int64] = None  # type: ignore[assignment]  # filled in __post_init__
    class_names: tuple[str, ...] = None  # type: ignore[assignment]
    node_ids: NDArray[Any] = None  # type: ignore[assignment]
    splits: SplitBatch | None = None
    name: str = "graph"
    is_directed: bool = False
    notes: EdgeNotes = field(default_factory=EdgeNotes)
    remarks: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    encoder: Encoder | None = None
    edge_types: EdgeTypes | None = None

    def __post_init__(self) -> None:
        """Check every part once; the code behind trusts."""
        adjacency = checked_adjacency(self.adjacency, self.is_directed)
        num_nodes = int(adjacency.shape[0])
        labels, class_names = encode_labels(self.labels, num_nodes, self.class_names)
        given_ids: Any = self.node_ids
        node_ids = np.arange(num_nodes) if given_ids is None else np.array(given_ids)
        if node_ids.shape != (num_nodes,) or node_ids.dtype.kind not in "iuU":
            raise InputError(
                f"node_ids must be {num_nodes} integers or strings, got "
                f"{node_ids.dtype} of shape {node_ids.shape}"
            )
        if not (node_ids[1:] > node_ids[:-1]).all():
            unique, counts = np.unique(node_ids, return_counts=True)
            if unique.size != num_nodes:
                raise InputError(f"node id {unique[counts > 1][0]!s} occurs more than once")
        if self.splits is not None and self.splits.num_nodes != num_nodes:
            raise InputError(
                f"the splits are for {self.splits.num_nodes} nodes, the graph has {num_nodes}"
            )
        features = checked_features(self.features, num_nodes)
        width = 0 if features is None else features.shape[1]
        names = None if self.feature_names is None else tuple(map(str, self.feature_names))
        if names is not None and len(names) != width:
            raise InputError(f"there are {len(names)} feature names for {width} features")
        values = {
            "adjacency": frozen(adjacency, self.adjacency),
            "features": frozen(features, self.features),
            "feature_names": names,
            "labels": frozen(labels, self.labels),
            "class_names": class_names,
            "node_ids": frozen(node_ids, None),
            "remarks": tuple(self.remarks),
            "edge_types": checked_types(self.edge_types, adjacency, self.is_directed),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy that went through pickle or another process, read-only as the original."""
        self.__dict__.update(state)
        for part in (self.adjacency, self.features, self.labels, self.node_ids):
            frozen(part, None)

    # --- construction -------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        num_nodes: int | None = None,
        weight: ArrayLike | None = None,
        direction: Direction = "drop",
        self_loops: SelfLoops = "remove",
        features: Any = None,
        labels: ArrayLike | None = None,
        edge_type: ArrayLike | None = None,
        type_names: Sequence[str] | None = None,
        **parts: Any,
    ) -> Graph:
        """Build from edge arrays of node numbers; ``parts`` are further fields of the graph.

        The number of nodes is ``num_nodes``, or else that of ``labels`` or ``features``, or else
        the largest node number plus one. ``edge_type`` is a word per edge or, with ``type_names``,
        a number per edge.
        """
        if num_nodes is None:
            for given in (labels, features):
                if given is not None:
                    num_nodes = given.shape[0] if hasattr(given, "shape") else len(given)  # type: ignore[arg-type]
                    break
            else:
                ends = [np.asarray(ids) for ids in (source, target)]
                if any(ids.dtype.kind not in "iuf" for ids in ends if ids.size):
                    raise InputError(
                        "source and target are node numbers from 0; for ids of other kinds there "
                        "is read_tables"
                    )
                num_nodes = 1 + max((int(ids.max()) for ids in ends if ids.size), default=-1)
        how: dict[str, Any] = {
            "num_nodes": num_nodes,
            "weight": weight,
            "direction": direction,
            "self_loops": self_loops,
        }
        if edge_type is None:
            adjacency, notes = adjacency_from_edges(source, target, **how)
        else:
            ends, how["weight"] = [np.asarray(end) for end in (source, target)], as_array(weight)
            types = coded(edge_type, ends[0].size, type_names)
            adjacency, notes, parts["edge_types"] = typed_adjacency(ends, types, **how)
        return cls(
            adjacency=adjacency,
            features=features,
            labels=labels,  # type: ignore[arg-type]
            is_directed=direction == "keep",
            notes=notes,
            **parts,
        )

    # --- sizes --------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Number of edges: pairs when undirected, ordered pairs when directed; loops count once."""
        if self.is_directed:
            return int(self.adjacency.nnz)
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return (int(self.adjacency.nnz) + loops) // 2

    @property
    def num_features(self) -> int:
        """Number of features F (0 when the graph has none)."""
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of classes C."""
        return len(self.class_names)

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Mask (N,) of the nodes that have a label."""
        return np.asarray(self.labels != UNLABELLED)

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return bool((self.adjacency.data != 1).any())

    @property
    def type_names(self) -> tuple[str, ...]:
        """Names of the types of edges; none where edges have no types."""
        return () if self.edge_types is None else self.edge_types.names

    def of_type(self, name: str) -> Graph:
        """Return the same nodes with the edges of one type alone.

        >>> graph = Graph.from_edges([0, 1, 0], [1, 2, 1], edge_type=["likes", "owns", "owns"])
        >>> graph.num_edges, graph.of_type("owns").num_edges
        (2, 2)
        """
        if self.edge_types is None:
            raise InputError(
                f"the edges of {self.name!r} have no types; {remedy('name-edge-type')}"
            )
        return self.replace(
            adjacency=self.edge_types.matrix(name), name=f"{self.name}: {name}", notes=EdgeNotes()
        )

    # --- identity -----------------------------------------------------------------------------

    @cached_property
    def content_hash(self) -> str:
        """sha256 of the adjacency, the features and the labels, in canonical form.

        Independent of storage: dense or CSR, float32 or float64 holding equal values hash
        alike. Names, ids and splits do not enter; types of edges do, where there are any.
        """
        digest = hashlib.sha256(b"heterophily graph 1")

        def add(tag: str, array: NDArray[Any], dtype: str) -> None:
            data = np.ascontiguousarray(array, dtype=dtype)
            digest.update(f"|{tag} {data.shape}|".encode())
            digest.update(data.data.cast("B") if data.size else b"")

        add("indptr", self.adjacency.indptr, "<i8")
        add("indices", self.adjacency.indices, "<i4")
        if self.is_weighted:
            add("weights", self.adjacency.data, "<f8")
        if self.edge_types is not None:
            for matrix in self.edge_types.matrices:
                add("type indptr", matrix.indptr, "<i8")
                add("type indices", matrix.indices, "<i4")
                if self.is_weighted:
                    add("type weights", matrix.data, "<f8")
        add("labels", self.labels, "<i8")
        if self.features is not None:
            digest.update(f"|features {self.features.shape}|".encode())
            for start in range(0, self.num_nodes, _HASH_BLOCK):
                block = sp.csr_array(self.features[start : start + _HASH_BLOCK])
                block.eliminate_zeros()
                add("row lengths", np.diff(block.indptr), "<i8")
                add("columns", block.indices, "<i4")
                add("values", block.data, "<f8")
        return digest.hexdigest()

    def __deepcopy__(self, memo: object) -> Graph:
        """Return the graph itself: it cannot change."""
        return self

    def replace(self, **changes: Any) -> Graph:
        """Return a copy with some fields changed.

        Other features lose the names of the former, other edges their types.
        """
        if "adjacency" in changes:
            changes = {"edge_types": None, **changes}
        if "features" in changes:
            changes = {"feature_names": None, "encoder": None, **changes}
        return replace(self, **changes)

    @cached_property
    def report(self) -> GraphReport:
        """What is in this graph and what its importer did."""
        from heterophily.data.report import GraphReport

        return GraphReport.of(self)

    def __repr__(self) -> str:
        """Return the name and the sizes."""
        return (
            f"Graph({self.name!r}, nodes={self.num_nodes}, edges={self.num_edges}, "
            f"features={self.num_features}, classes={self.num_classes})"
        )

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks."""
        return self.report._repr_html_()


def same_content(first: Graph, second: Graph) -> bool:
    """Whether two graphs agree in structure, types, features, labels, names, ids and splits."""
    if first.content_hash != second.content_hash or first.class_names != second.class_names:
        return False
    if not np.array_equal(first.node_ids.astype(str), second.node_ids.astype(str)):
        return False
    types = [graph.edge_types and graph.edge_types.names for graph in (first, second)]
    if types[0] != types[1] or (first.splits is None) != (second.splits is None):
        return False
    if first.splits is None or second.splits is None:
        return True
    return all(
        np.array_equal(getattr(first.splits, part), getattr(second.splits, part)) for part in PARTS
    )
