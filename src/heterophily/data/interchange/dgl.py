"""Graphs from DGL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.graph import Graph
from heterophily.data.interchange.tensors import (
    as_array,
    as_features,
    as_labels,
    as_splits,
    as_weight,
)
from heterophily.data.leaks import leak_remarks
from heterophily.errors import InputError

_FEATURES = ("feat", "x", "features")
_LABELS = ("label", "y", "labels")
_WEIGHTS = ("weight", "edge_weight", "w")
_MASKS = ("train_mask", "val_mask", "test_mask")


def _chosen(data: Mapping[str, Any], asked: str | None, known: Iterable[str], kind: str) -> Any:
    """Return the key that was asked for, or the first well-known one that is there."""
    if asked is None:
        return next((key for key in known if key in data), None)
    if asked not in data:
        names = ", ".join(map(str, data)) or "nothing"
        raise InputError(f"the graph has no {kind} data {asked!r}; it has {names}")
    return asked


def from_dgl(
    graph: Any,
    *,
    label: str | None = None,
    features: str | None = None,
    weight: str | None = None,
    labels_are_classes: bool = False,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    name: str = "graph",
) -> Graph:
    """Build a graph from a ``dgl.DGLGraph`` or an object with the same methods.

    Node data: ``features`` (default feat, x or features), ``label`` (default label, y or labels;
    -1 or NaN = unlabelled) and train_mask/val_mask/test_mask. Edge data: ``weight`` (default
    weight, edge_weight or w). DGL is not imported. A label of numbers on a scale is refused, unless
    ``labels_are_classes``.
    """
    if not getattr(graph, "is_homogeneous", True) or getattr(graph, "is_block", False):
        raise InputError(
            f"{type(graph).__name__} has several kinds of nodes or edges; pass a homogeneous "
            "graph (dgl.to_homogeneous)"
        )
    if not all(hasattr(graph, key) for key in ("edges", "num_nodes", "ndata", "edata")):
        raise InputError(
            f"{type(graph).__name__} is not like a DGL graph: it needs edges(), num_nodes(), "
            "ndata and edata"
        )
    source, target = (
        as_array(end, f"edges()[{side}]") for side, end in enumerate(graph.edges()[:2])
    )
    num_nodes = int(graph.num_nodes())
    remarks: list[str] = []
    weights = None
    weight_key = _chosen(graph.edata, weight, _WEIGHTS, "edge")
    if weight_key is not None:
        value = graph.edata[weight_key]
        weights = as_weight(value, f"edata[{weight_key!r}]", source.size)
        if weights is None:
            remarks.append(
                f"edata[{weight_key!r}] of shape {tuple(value.shape)} ignored: not one weight each"
            )
    feature_key = _chosen(graph.ndata, features, _FEATURES, "node")
    label_key = _chosen(graph.ndata, label, _LABELS, "node")
    masks = {key: graph.ndata[key] for key in _MASKS if key in graph.ndata}
    matrix = (
        None
        if feature_key is None
        else as_features(graph.ndata[feature_key], f"ndata[{feature_key!r}]")
    )
    labels = (
        None
        if label_key is None
        else as_labels(
            graph.ndata[label_key],
            f"ndata[{label_key!r}]",
            num_nodes,
            labels_are_classes=labels_are_classes,
        )
    )
    remarks.extend(leak_remarks(matrix, labels))
    return Graph.from_edges(
        source,
        target,
        num_nodes=num_nodes,
        weight=weights,
        direction=direction,
        self_loops=self_loops,
        features=matrix,
        labels=labels,
        splits=as_splits(masks, num_nodes, remarks, names=_MASKS),
        name=name,
        remarks=tuple(remarks),
    )
