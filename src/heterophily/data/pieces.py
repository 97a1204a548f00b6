"""What a file holds before it becomes a graph: edges as listed, features, labels, split sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.checks import UNLABELLED, signed
from heterophily.data.encode.encoder import Encoder
from heterophily.data.graph import Graph
from heterophily.data.splits import PARTS, SplitBatch
from heterophily.errors import InputError


@dataclass(frozen=True, eq=False)
class Pieces:
    """The parts of a dataset, with nothing dropped; :meth:`graph` builds the graph.

    Parameters
    ----------
    edge_index
        (2, E) node numbers in the order of the source: duplicates, self loops and direction kept.
    labels
        (N,) whole numbers, -1 = unlabelled; ``None`` with ``features`` alone.
    features
        (N, F) CSR or dense, or ``None``.
    unlabelled
        Nodes to which the source gives no label although ``labels`` has a number there.
    split_sets
        Fixed splits by name: ``"fixed"`` go with the graph, ``"public"`` is Planetoid's.
    is_directed
        ``False`` where the source lists each undirected edge once, ``True`` where direction has a
        meaning, ``None`` where the list itself must tell.
    edge_type, type_names
        (E,) number of the type of each edge, and the names of the types.
    """

    edge_index: NDArray[Any]
    labels: NDArray[Any] | None = None
    features: sp.csr_array | NDArray[Any] | None = None
    edge_weight: NDArray[Any] | None = None
    unlabelled: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))
    class_names: tuple[str, ...] | None = None
    node_ids: NDArray[Any] | None = None
    split_sets: Mapping[str, SplitBatch] = field(default_factory=dict)
    name: str = "graph"
    is_directed: bool | None = None
    remarks: tuple[str, ...] = ()
    num_nodes: int | None = None
    feature_names: tuple[str, ...] | None = None
    encoder: Encoder | None = None
    edge_type: NDArray[Any] | None = None
    type_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Find the number of nodes; give labels a type that has room for -1."""
        if self.labels is not None and self.labels.dtype.kind in "ub":
            object.__setattr__(self, "labels", signed(self.labels, "labels"))
        if self.num_nodes is None:
            held = self.labels if self.labels is not None else self.features
            if held is None:
                raise InputError("there are neither labels nor features: how many nodes are there?")
            object.__setattr__(self, "num_nodes", int(held.shape[0]))

    @property
    def is_unlabelled(self) -> NDArray[np.bool_]:
        """Mask (N,) of the nodes without a label in the source."""
        mask = np.ones(self.num_nodes or 0, np.bool_)
        if self.labels is not None:
            mask[:] = self.labels == UNLABELLED
        mask[self.unlabelled] = True
        return mask

    def label_array(self, fill_unlabelled: int | None = None) -> NDArray[Any] | None:
        """Return the labels, unlabelled nodes as -1 or as class ``fill_unlabelled``."""
        if self.labels is None:
            return None
        labels, missing = self.labels.copy(), self.is_unlabelled
        labels[missing] = UNLABELLED
        if fill_unlabelled is not None:
            if fill_unlabelled not in labels[~missing]:
                raise InputError(
                    f"fill_unlabelled={fill_unlabelled} is not a class of {self.name}; classes "
                    f"are {', '.join(map(str, np.unique(labels[~missing])[:20]))}"
                )
            labels[missing] = fill_unlabelled
        return labels

    def usable_split_sets(
        self, fill_unlabelled: int | None = None
    ) -> tuple[dict[str, SplitBatch], tuple[str, ...]]:
        """Return the split sets over nodes that have a label, and what was taken out.

        A node without a label can neither teach nor test; with ``fill_unlabelled`` it has one.
        """
        missing = self.is_unlabelled
        if fill_unlabelled is not None or self.labels is None or not missing.any():
            return dict(self.split_sets), ()
        sets, remarks = {}, []
        for key, batch in self.split_sets.items():
            masks = [getattr(batch, part) for part in PARTS]
            inside = np.any([(mask & missing).any(axis=0) for mask in masks], axis=0)
            sets[key] = SplitBatch(*(mask & ~missing for mask in masks))
            if inside.any():
                nodes = (
                    "1 unlabelled node"
                    if inside.sum() == 1
                    else (f"{inside.sum():,} unlabelled nodes")
                )
                remarks.append(
                    f"{nodes} taken out of the {key} splits (fill_unlabelled=CLASS gives them a "
                    "class and keeps them)"
                )
        return sets, tuple(remarks)

    def graph(
        self,
        *,
        direction: Direction = "drop",
        self_loops: SelfLoops = "remove",
        fill_unlabelled: int | None = None,
    ) -> Graph:
        """Build the graph; its fixed splits are the set ``"fixed"``."""
        source, target = self.edge_index
        weight, types = self.edge_weight, self.edge_type
        if self.is_directed is False and direction == "keep":  # listed once: write out both ways
            back = source != target
            source, target = np.r_[source, target[back]], np.r_[target, source[back]]
            weight = None if weight is None else np.r_[weight, weight[back]]
            types = None if types is None else np.r_[types, types[back]]
        remarks = list(self.remarks)
        sets, taken_out = self.usable_split_sets(fill_unlabelled)
        remarks += taken_out
        missing = int(self.is_unlabelled.sum())
        if fill_unlabelled is not None and self.labels is not None and missing:
            nodes = "1 node" if missing == 1 else f"{missing:,} nodes"
            remarks.append(f"{nodes} without a label given class {fill_unlabelled}")
        graph = Graph.from_edges(
            source,
            target,
            num_nodes=self.num_nodes,
            weight=weight,
            edge_type=types,
            type_names=self.type_names,
            direction=direction,
            self_loops=self_loops,
            features=self.features,
            labels=self.label_array(fill_unlabelled),
            class_names=self.class_names,
            node_ids=self.node_ids,
            splits=sets.get("fixed"),
            name=self.name,
            remarks=tuple(remarks),
            feature_names=self.feature_names,
            encoder=self.encoder,
        )
        if self.is_directed is False and direction == "drop":
            return graph.replace(notes=replace(graph.notes, one_way=0))
        return graph
