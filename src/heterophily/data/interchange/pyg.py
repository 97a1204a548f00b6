"""Graphs from and to PyTorch Geometric."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

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
from heterophily.errors import InputError, MissingExtraError

_MASKS = ("train_mask", "val_mask", "test_mask")


def from_pyg(
    data: Any,
    *,
    labels_are_classes: bool = False,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    name: str = "graph",
) -> Graph:
    """Build a graph from a ``torch_geometric.data.Data`` or an object with the same attributes.

    Read are ``edge_index`` (2, E), ``edge_weight`` or a one-column ``edge_attr``, ``x`` (dense or
    sparse), ``y`` (-1 or NaN = unlabelled), ``train_mask``/``val_mask``/``test_mask`` (N,) or
    (N, R), ``num_nodes``, and the ``class_names`` and ``node_ids`` that :func:`to_pyg` leaves.
    A ``y`` of numbers on a scale is refused, unless ``labels_are_classes``.
    """
    if hasattr(data, "node_types") or isinstance(getattr(data, "x", None), tuple | dict):
        raise InputError(
            f"{type(data).__name__} has several kinds of nodes; pass a homogeneous graph "
            "(data.to_homogeneous())"
        )
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise InputError(
            f"{type(data).__name__} has no edge_index (2, E); build the edges first"
            + (" from its adj_t" if getattr(data, "adj_t", None) is not None else "")
        )
    edges = as_array(edge_index, "edge_index")
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise InputError(f"edge_index has shape {edges.shape}, expected (2, E)")
    features = as_features(getattr(data, "x", None), "x")
    num_nodes = _num_nodes(data, edges, features)
    remarks: list[str] = []
    weight = None
    for key in ("edge_weight", "edge_attr"):
        value = getattr(data, key, None)
        if value is not None and weight is None:
            weight = as_weight(value, key, edges.shape[1])
            if weight is None:
                remarks.append(f"{key} of shape {tuple(value.shape)} ignored: not one weight each")
    labels = as_labels(
        getattr(data, "y", None), "y", num_nodes, labels_are_classes=labels_are_classes
    )
    remarks.extend(leak_remarks(features, labels))
    masks = {key: getattr(data, key, None) for key in _MASKS}
    parts: dict[str, Any] = {}
    for key in ("class_names", "node_ids"):
        if getattr(data, key, None) is not None:
            parts[key] = getattr(data, key)
    if "class_names" in parts:
        parts["class_names"] = tuple(str(name) for name in parts["class_names"])
    return Graph.from_edges(
        edges[0],
        edges[1],
        num_nodes=num_nodes,
        weight=weight,
        direction=direction,
        self_loops=self_loops,
        features=features,
        labels=labels,
        splits=as_splits(masks, num_nodes, remarks, names=_MASKS),
        name=name,
        remarks=tuple(remarks),
        **parts,
    )


def _num_nodes(data: Any, edges: Any, features: Any) -> int:
    if features is not None:
        return int(features.shape[0])
    if "num_nodes" in _keys(data) and data.num_nodes is not None:
        return int(data.num_nodes)
    for key in ("y", "train_mask"):  # without them PyG itself guesses, with a warning
        value = getattr(data, key, None)
        if value is not None and len(getattr(value, "shape", ())):
            return int(value.shape[0])
    return int(edges.max()) + 1 if edges.size else 0


def _keys(data: Any) -> list[str]:
    keys = data.keys() if callable(getattr(data, "keys", None)) else vars(data)
    return list(keys)


def to_pyg(graph: Graph, *, dense_features: bool = True) -> Any:
    """Return a ``torch_geometric.data.Data`` of the graph; needs the extra ``heterophily[pyg]``.

    ``edge_index`` holds both directions of an undirected edge; ``y`` is -1 for an unlabelled node;
    the fixed splits are masks (N,), or (N, R) when there are several. With
    ``dense_features=False`` CSR features become a sparse tensor. Class names and node ids are
    kept as ``class_names`` and ``node_ids``.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError(
            "to_pyg needs PyTorch Geometric: pip install 'heterophily[pyg]'"
        ) from error
    coo = graph.adjacency.tocoo()
    data = Data(
        edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)),
        num_nodes=graph.num_nodes,
        class_names=list(graph.class_names),
        node_ids=graph.node_ids.tolist(),
    )
    if graph.is_weighted:
        data.edge_weight = torch.from_numpy(coo.data.copy())
    if graph.num_classes:
        data.y = torch.from_numpy(graph.labels.copy())
    features: Any = graph.features
    if sp.issparse(features) and not dense_features:
        entries = features.tocoo()
        data.x = torch.sparse_coo_tensor(
            torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64)),
            torch.from_numpy(entries.data.copy()),
            features.shape,
            is_coalesced=True,
            check_invariants=False,
        )
    elif features is not None:
        dense = features.toarray() if sp.issparse(features) else features.copy()
        data.x = torch.from_numpy(dense)
    if graph.splits is not None:
        splits = graph.splits
        parts = (splits.train, splits.validation, splits.test)
        for name, masks in zip(_MASKS, parts, strict=True):
            mask = masks[0].copy() if len(splits) == 1 else masks.T.copy()
            data[name] = torch.from_numpy(mask)
    return data
