"""The package's own file: one ``.npz`` per graph, plain arrays, no pickles.

=====================================  =====================================================
field                                  meaning
=====================================  =====================================================
``edge_index`` (2, E)                  edges in the order of the source, nothing dropped
``x_data, x_indices, x_indptr``,       features as CSR parts, ``x_shape`` = (N, F);
``x_shape``                            or instead of the four:
``x`` (N, F)                           dense features
``y`` (N,)                             class per node, -1 = no label
``split_train, split_val``,            fixed splits, (S, ceil(N / 8)) bits packed along the
``split_test``, ``split_count``        node axis, big bit order; S
``public_train, ...``                  the Planetoid public split, packed in the same way
``unlabelled``                         nodes whose label is missing although ``y`` has a number
``edge_weight`` (E,)                   weight per edge
``edge_type`` (E,),                    number of the type of each edge (0, 1, ...), and the
``edge_type_names`` (K,)               names of the types
``class_names`` (C,), ``node_ids`` (N,), ``name``, ``remarks``, ``num_nodes``
                                       text and numbers as in :class:`Graph`
``feature_names`` (F,)                 name of each feature
``encoder``                            how the features were made from a table: bytes of JSON
``is_directed, has_self_loops``        how the edges are meant (files of :func:`write_npz`)
=====================================  =====================================================

All but ``edge_index`` may be absent. The files of heterophilous-graphs (``node_features``,
``node_labels``, ``edges``, masks) are read as well.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.atomic import atomic_path
from heterophily.data.graph import Graph
from heterophily.data.leaks import leak_remarks
from heterophily.data.npz_arrays import read_arrays, write_arrays
from heterophily.data.npz_fields import (
    SPLIT_FIELDS,
    SPLIT_PARTS,
    FileFields,
    pieces_from_arrays,
    truth,
)
from heterophily.data.pieces import Pieces
from heterophily.data.readers.yandex import FIELDS as YANDEX_FIELDS
from heterophily.data.readers.yandex import pieces_from_yandex
from heterophily.errors import InputError


def read_npz(
    path: str | os.PathLike[str],
    *,
    direction: Direction | None = None,
    self_loops: SelfLoops | None = None,
    fill_unlabelled: int | None = None,
    labels_are_classes: bool = False,
    name: str | None = None,
) -> Graph:
    """Read a graph from an ``.npz`` file (layout: see this module).

    Without ``direction`` and ``self_loops``, a file of :func:`write_npz` gives back the graph that
    was written; any other file is read with ``"drop"`` and ``"remove"``. Nodes without a label are
    taken out of the fixed splits, and the report says so; with ``fill_unlabelled`` they get that
    class and stay. Labels that are numbers on a scale or ids are refused, unless
    ``labels_are_classes`` or the file names its classes.
    """
    arrays = read_arrays(path)
    pieces = _checked_pieces(Path(path), arrays, name, labels_are_classes=labels_are_classes)
    if "class_names" not in arrays:  # a stranger's file: nobody has looked at it yet
        leaks = leak_remarks(pieces.features, pieces.label_array())
        pieces = replace(pieces, remarks=(*pieces.remarks, *leaks))
    if direction is None:
        direction = "keep" if pieces.is_directed else "drop"
    if self_loops is None:
        self_loops = "keep" if truth(Path(path), arrays, "has_self_loops") else "remove"
    try:
        return pieces.graph(
            direction=direction, self_loops=self_loops, fill_unlabelled=fill_unlabelled
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def write_npz(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph; :func:`read_npz` gives the same graph back.

    The file appears whole or not at all. An undirected graph stores each pair once.
    """
    types = graph.edge_types
    if types is not None:
        edge_index, weight, edge_type = types.rows(is_directed=graph.is_directed)
    else:
        matrix = graph.adjacency if graph.is_directed else sp.triu(graph.adjacency, format="csr")
        entries = sp.coo_array(matrix)
        edge_index, weight = np.stack(entries.coords), entries.data
    pieces = Pieces(
        edge_index=edge_index,
        edge_weight=weight if graph.is_weighted else None,
        edge_type=None if types is None else edge_type,
        type_names=None if types is None else types.names,
        labels=graph.labels,
        features=graph.features,
        class_names=graph.class_names,
        node_ids=None if _is_range(graph.node_ids) else graph.node_ids,
        split_sets={} if graph.splits is None else {"fixed": graph.splits},
        name=graph.name,
        is_directed=graph.is_directed,
        remarks=graph.remarks,
        feature_names=graph.feature_names,
        encoder=graph.encoder,
    )
    has_self_loops = bool((graph.adjacency.diagonal() != 0).any())
    write_pieces(pieces, path, has_self_loops=has_self_loops)


def read_pieces(path: str | os.PathLike[str], *, name: str | None = None) -> Pieces:
    """Read what an ``.npz`` file holds, with nothing dropped."""
    return _checked_pieces(Path(path), read_arrays(path), name)


def write_pieces(
    pieces: Pieces, path: str | os.PathLike[str], *, has_self_loops: bool | None = None
) -> None:
    """Write pieces as an ``.npz`` file, atomically."""
    arrays: FileFields = {"edge_index": _small(pieces.edge_index)}
    if pieces.edge_weight is not None:
        arrays["edge_weight"] = pieces.edge_weight
    if pieces.edge_type is not None and pieces.type_names is not None:
        arrays["edge_type"] = _small(pieces.edge_type, np.int8)
        arrays["edge_type_names"] = np.array(pieces.type_names, np.str_)
    arrays |= _feature_arrays(pieces.features)
    if pieces.labels is not None:
        arrays["y"] = _small(pieces.labels, np.int16)
    if pieces.labels is None and pieces.features is None:
        arrays["num_nodes"] = np.array(pieces.num_nodes, np.int64)
    if pieces.unlabelled.size:
        arrays["unlabelled"] = _small(pieces.unlabelled)
    for key, batch in pieces.split_sets.items():
        prefix = SPLIT_FIELDS[key]
        for part, mask in zip(
            SPLIT_PARTS, (batch.train, batch.validation, batch.test), strict=True
        ):
            arrays[f"{prefix}_{part}"] = np.packbits(mask, axis=1)
        if key == "fixed":
            arrays["split_count"] = np.array(len(batch), np.int64)
    if pieces.class_names is not None:
        arrays["class_names"] = np.array(pieces.class_names, np.str_)
    if pieces.node_ids is not None:
        arrays["node_ids"] = pieces.node_ids
    if pieces.feature_names is not None:
        arrays["feature_names"] = np.array(pieces.feature_names, np.str_)
    if pieces.encoder is not None:
        text = json.dumps(pieces.encoder.to_dict(), allow_nan=False)
        arrays["encoder"] = np.frombuffer(text.encode("utf-8"), np.uint8)
    if pieces.remarks:
        arrays["remarks"] = np.array(pieces.remarks, np.str_)
    arrays["name"] = np.array(pieces.name, np.str_)
    if pieces.is_directed is not None:
        arrays["is_directed"] = np.array(pieces.is_directed)
    if has_self_loops is not None:
        arrays["has_self_loops"] = np.array(has_self_loops)
    with atomic_path(path) as temporary:
        write_arrays(temporary, arrays)


def _checked_pieces(
    path: Path, arrays: FileFields, name: str | None, *, labels_are_classes: bool = True
) -> Pieces:
    """Read our layout, or that of heterophilous-graphs by its field names."""
    if "edge_index" not in arrays and arrays.keys() >= YANDEX_FIELDS.keys():
        pieces = pieces_from_yandex(path, arrays)
        return pieces if name is None else replace(pieces, name=name)
    return pieces_from_arrays(path, arrays, name=name, labels_are_classes=labels_are_classes)


# --- pieces to arrays -------------------------------------------------------------------------


def _small(array: NDArray[Any], dtype: Any = np.int32) -> NDArray[Any]:
    """Return whole numbers in ``dtype`` where they fit, else in 64 bits."""
    bounds = np.iinfo(dtype)
    fits = array.size == 0 or (array.min() >= bounds.min and array.max() <= bounds.max)
    return array.astype(dtype if fits else np.int64)


def _is_range(ids: NDArray[Any]) -> bool:
    return ids.dtype.kind in "iu" and bool((ids == np.arange(ids.size)).all())


def _feature_arrays(features: sp.csr_array | NDArray[Any] | None) -> FileFields:
    if features is None:
        return {}
    if not sp.issparse(features):
        return {"x": np.asarray(features)}
    matrix = sp.csr_array(features)
    is_binary = bool((matrix.data == 1).all())
    return {
        "x_data": matrix.data.astype(np.uint8) if is_binary else matrix.data,
        "x_indices": _small(matrix.indices),
        "x_indptr": matrix.indptr.astype(np.int64),
        "x_shape": np.array(matrix.shape, np.int64),
    }
