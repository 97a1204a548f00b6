"""Arrays of other libraries, recognised by what they can do: PyTorch is never imported here."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.labels import whole_labels
from heterophily.data.splits import PARTS, SplitBatch
from heterophily.data.wide import wide_csr
from heterophily.errors import InputError


def as_array(value: Any, name: str) -> NDArray[Any]:
    """Return a NumPy array from an array, a list or a tensor (of any device, with a gradient)."""
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":  # NumPy has no such type; float is exact
                value = value.float()
            return np.asarray(value.numpy())
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error


def as_features(value: Any, name: str) -> sp.csr_array | NDArray[Any] | None:
    """Return a feature matrix: CSR from sparse tensors and matrices, dense from others."""
    if value is None:
        return None
    if sp.issparse(value):
        return wide_csr(value)
    if hasattr(value, "to_scipy"):
        return sp.csr_array(value.to_scipy(layout="csr"))
    layout = str(getattr(value, "layout", ""))
    if layout == "torch.sparse_coo":
        value = value.detach()
        value = (value if value.is_floating_point() else value.double()).coalesce()
        indices = as_array(value.indices(), name)
        return sp.csr_array(
            (as_array(value.values(), name), (indices[0], indices[1])), shape=tuple(value.shape)
        )
    if layout == "torch.sparse_csr":
        value = value.detach()
        parts = [as_array(part(), name) for part in (value.values, value.col_indices)]
        return sp.csr_array((*parts, as_array(value.crow_indices(), name)), shape=value.shape)
    array = as_array(value, name)
    return array[:, None] if array.ndim == 1 else array


def as_labels(
    value: Any, name: str, num_nodes: int, *, labels_are_classes: bool = False
) -> NDArray[np.int64] | None:
    """Return labels (N,) from a vector or a single column; NaN and -1 mean unlabelled."""
    if value is None:
        return None
    array = as_array(value, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (num_nodes,):
        raise InputError(
            f"{name} has shape {array.shape}, expected ({num_nodes},): one class per node "
            "(several labels per node, or one per graph, are not node classification)"
        )
    return whole_labels(array, place=name, labels_are_classes=labels_are_classes)


def as_weight(value: Any, name: str, num_edges: int) -> NDArray[np.float64] | None:
    """Return edge weights (E,) from a vector or a single column; ``None`` if it is neither."""
    array = as_array(value, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (num_edges,) or array.dtype.kind not in "fiub":
        return None
    return array.astype(np.float64)


def as_splits(
    masks: dict[str, Any], num_nodes: int, remarks: list[str], *, names: tuple[str, str, str]
) -> SplitBatch | None:
    """Return the fixed splits from masks of shape (N,) or (N, R); remark on an incomplete set."""
    given = [name for name in names if masks.get(name) is not None]
    if not given:
        return None
    if len(given) < len(names):
        missing = [name for name in names if name not in given]
        remarks.append(f"{', '.join(given)} ignored: a split needs {' and '.join(missing)} too")
        return None
    columns = {}
    for name, part in zip(names, PARTS, strict=True):
        mask = as_array(masks[name], name)
        if mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all():
            mask = mask.astype(np.bool_)
        if mask.dtype != np.bool_ or mask.ndim not in (1, 2) or mask.shape[0] != num_nodes:
            raise InputError(
                f"{name} is {mask.dtype} of shape {mask.shape}, expected a mask ({num_nodes},) "
                f"or ({num_nodes}, R)"
            )
        columns[part] = mask[:, None] if mask.ndim == 1 else mask
    repeats = max(mask.shape[1] for mask in columns.values())
    for part, mask in columns.items():
        if mask.shape[1] == 1:  # one test set for all splits is common
            columns[part] = np.repeat(mask, repeats, axis=1)
    return SplitBatch(*(columns[part].T for part in PARTS))
