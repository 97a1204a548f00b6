"""The fields of an ``.npz`` file (layout: :mod:`heterophily.data.npz`), checked one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.encode.encoder import Encoder
from heterophily.data.labels import whole_labels
from heterophily.data.pieces import Pieces
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError

FileFields = dict[str, NDArray[Any]]
CSR_FIELDS = ("x_data", "x_indices", "x_indptr", "x_shape")
SPLIT_FIELDS = {"fixed": "split", "public": "public"}
SPLIT_PARTS = ("train", "val", "test")
FREE_NODES, NODES_PER_END = 10_000_000, 10  # a number alone may claim so many nodes
KNOWN_FIELDS = {
    *("edge_index", "edge_weight", "x", "y", "unlabelled", "split_count", "class_names"),
    *("node_ids", "name", "remarks", "num_nodes", "is_directed", "has_self_loops"),
    *("feature_names", "encoder", "edge_type", "edge_type_names"),
    *CSR_FIELDS,
    *(f"{prefix}_{part}" for prefix in SPLIT_FIELDS.values() for part in SPLIT_PARTS),
}


def pieces_from_arrays(
    path: Path, arrays: FileFields, *, name: str | None = None, labels_are_classes: bool = True
) -> Pieces:
    """Return what the arrays of a file hold; every message names the file and the field."""
    if "edge_index" not in arrays:
        raise InputError(
            f"{path} has no field 'edge_index' (found: {', '.join(sorted(arrays)) or 'nothing'}); "
            "see heterophily.data.npz for the layout"
        )
    edge_index = _field(path, arrays, "edge_index", "iu", (2, None))
    labels = _labels(path, arrays, labels_are_classes) if "y" in arrays else None
    features = _features(path, arrays)
    num_nodes = _num_nodes(path, arrays, labels, features)
    _check_numbers(path, "edge_index", edge_index, num_nodes)
    unlabelled = np.zeros(0, np.int64)
    if "unlabelled" in arrays:
        unlabelled = _field(path, arrays, "unlabelled", "iu", (None,))
        _check_numbers(path, "unlabelled", unlabelled, num_nodes)
    optional = {
        field: _field(path, arrays, field, kinds, (length,))
        for field, kinds, length in (
            ("edge_weight", "fiu", edge_index.shape[1]),
            ("edge_type", "iu", edge_index.shape[1]),
            ("edge_type_names", "U", None),
            ("class_names", "U", None),
            ("node_ids", "iuU", num_nodes),
            ("remarks", "U", None),
            ("feature_names", "U", 0 if features is None else features.shape[1]),
        )
        if field in arrays
    }
    remarks = tuple(str(text) for text in optional.get("remarks", ()))
    if unused := sorted(arrays.keys() - KNOWN_FIELDS):
        remarks += (f"fields of the file that were not used: {', '.join(unused)}",)
    class_names, feature_names = optional.get("class_names"), optional.get("feature_names")
    if ("edge_type" in optional) != ("edge_type_names" in optional):
        raise InputError(
            f"{path}: the fields 'edge_type' and 'edge_type_names' belong together, and one of "
            "them is missing"
        )
    types = optional.get("edge_type_names")
    is_directed = truth(path, arrays, "is_directed")
    stored_name = str(_field(path, arrays, "name", "U", ())) if "name" in arrays else path.stem
    return Pieces(
        edge_index=edge_index,
        labels=labels,
        features=features,
        edge_weight=optional.get("edge_weight"),
        unlabelled=unlabelled,
        class_names=None if class_names is None else tuple(str(text) for text in class_names),
        node_ids=optional.get("node_ids"),
        split_sets={
            key: batch
            for key, prefix in SPLIT_FIELDS.items()
            if (batch := _splits(path, arrays, prefix, num_nodes)) is not None
        },
        name=stored_name if name is None else name,
        is_directed=is_directed,
        remarks=remarks,
        num_nodes=num_nodes,
        feature_names=None if feature_names is None else tuple(str(text) for text in feature_names),
        encoder=_encoder(path, arrays) if "encoder" in arrays else None,
        edge_type=optional.get("edge_type"),
        type_names=None if types is None else tuple(str(text) for text in types),
    )


def _encoder(path: Path, arrays: FileFields) -> Encoder:
    data = _field(path, arrays, "encoder", "u", (None,))
    try:
        return Encoder.from_dict(json.loads(data.astype(np.uint8).tobytes()))
    except (ValueError, RecursionError) as error:  # InputError is a ValueError
        raise InputError(f"{path}: field 'encoder': {error}") from error


def _labels(path: Path, arrays: FileFields, labels_are_classes: bool) -> NDArray[np.int64]:
    """Return the labels; in a file that names its classes they are classes."""
    if arrays["y"].ndim == 2:
        raise InputError(
            f"{path}: field 'y' has shape {arrays['y'].shape}, expected (any): one class per node "
            "(of several labels per node, predict one as yes/no)"
        )
    labels = _field(path, arrays, "y", "fiub", (None,))
    return whole_labels(
        labels,
        place=f"{path}: y",
        labels_are_classes=labels_are_classes or "class_names" in arrays,
    )


def _field(
    path: Path, arrays: FileFields, field: str, kinds: str, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return an array of the file after checking its type and its shape (``None``: any length)."""
    if field not in arrays:
        raise InputError(f"{path} has no field {field!r}")
    array = arrays[field]
    if array.dtype.kind not in kinds:
        wanted = {"i": "integers", "f": "numbers", "U": "text", "b": "a truth value"}
        names = " or ".join(text for kind, text in wanted.items() if kind in kinds)
        raise InputError(f"{path}: field {field!r} holds {array.dtype}, expected {names}")
    matches = len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if not matches:
        text = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"{path}: field {field!r} has shape {array.shape}, expected ({text})")
    return array


def truth(path: Path, arrays: FileFields, field: str) -> bool | None:
    """Return a truth value of the file, None where it has none."""
    return bool(_field(path, arrays, field, "b", ())) if field in arrays else None


def _check_numbers(path: Path, field: str, array: NDArray[Any], limit: int) -> None:
    """Refuse numbers outside ``[0, limit)``, naming the first."""
    if array.size and (array.min() < 0 or array.max() >= limit):
        place = np.argwhere((array < 0) | (array >= limit))[0]
        where = ", ".join(map(str, place))
        raise InputError(
            f"{path}: {field}[{where}] = {array[tuple(place)]}; the graph has {limit:,} nodes, "
            "numbered from 0"
        )


def _features(path: Path, arrays: FileFields) -> sp.csr_array | NDArray[Any] | None:
    if "x" in arrays:
        if any(field in arrays for field in CSR_FIELDS):
            raise InputError(
                f"{path} has dense features 'x' and also CSR features 'x_data', ...; keep one of "
                "the two"
            )
        dense = _field(path, arrays, "x", "fiub", (None, None))
        _check_finite(path, "x", dense)
        return dense
    if not any(field in arrays for field in CSR_FIELDS):
        return None
    rows, columns = (int(size) for size in _field(path, arrays, "x_shape", "iu", (2,)))
    if rows < 0 or not 0 <= columns < 2**31:
        raise InputError(f"{path}: field 'x_shape' says ({rows}, {columns})")
    data = _field(path, arrays, "x_data", "fiub", (None,))
    indices = _field(path, arrays, "x_indices", "iu", (data.size,))
    indptr = _field(path, arrays, "x_indptr", "iu", (rows + 1,))
    _check_finite(path, "x_data", data)
    if indptr[0] != 0 or indptr[-1] != data.size or (indptr[1:] < indptr[:-1]).any():
        raise InputError(
            f"{path}: field 'x_indptr' must rise from 0 to {data.size} (the length of 'x_data')"
        )
    if indices.size and (indices.min() < 0 or indices.max() >= columns):
        entry = int(np.flatnonzero((indices < 0) | (indices >= columns))[0])
        raise InputError(
            f"{path}: x_indices[{entry}] = {indices[entry]}; 'x_shape' says {columns} columns"
        )
    if data.dtype.kind in "b":
        data = data.astype(np.uint8)
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))


def _check_finite(path: Path, field: str, array: NDArray[Any]) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        where = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
        raise InputError(f"{path}: {field}[{where}] is not a finite number")


def _num_nodes(path: Path, arrays: FileFields, labels: NDArray[Any] | None, features: Any) -> int:
    """Return N, on which the fields must agree."""
    counts = {}
    if labels is not None:
        counts["y"] = int(labels.shape[0])
    if features is not None:
        counts["x" if "x" in arrays else "x_shape"] = int(features.shape[0])
    if "num_nodes" in arrays:
        counts["num_nodes"] = int(_field(path, arrays, "num_nodes", "iu", ()))
    if not counts:
        raise InputError(
            f"{path} has none of the fields 'y', 'x', 'x_shape', 'num_nodes': the number of nodes "
            "is unknown"
        )
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{field!r} {count:,}" for field, count in counts.items())
        raise InputError(f"{path}: fields disagree on the number of nodes: {told}")
    found, ends = next(iter(counts.values())), int(arrays["edge_index"].size)
    if list(counts) == ["num_nodes"] and found > max(FREE_NODES, NODES_PER_END * ends):
        raise InputError(
            f"{path}: num_nodes says {found:,} nodes, but the file holds {ends // 2:,} edges, no "
            "label and no feature; the file is refused"
        )
    return found


def _splits(path: Path, arrays: FileFields, prefix: str, num_nodes: int) -> SplitBatch | None:
    fields = [f"{prefix}_{part}" for part in SPLIT_PARTS]
    if not any(field in arrays for field in fields):
        return None
    width = (num_nodes + 7) // 8
    count = None
    if prefix == "split" and "split_count" in arrays:
        count = int(_field(path, arrays, "split_count", "iu", ()))
    packed = [_field(path, arrays, field, "u", (count, width)) for field in fields]
    for field, array in zip(fields, packed, strict=True):
        if array.dtype != np.uint8:
            raise InputError(f"{path}: field {field!r} holds {array.dtype}, expected packed uint8")
    try:
        return SplitBatch(
            *(np.unpackbits(array, axis=1, count=num_nodes).astype(np.bool_) for array in packed)
        )
    except InputError as error:
        raise InputError(f"{path}: fields '{prefix}_*': {error}") from error
