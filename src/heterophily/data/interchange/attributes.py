"""Node attributes of a networkx graph as labels, features and splits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.labels import encode_words
from heterophily.data.splits import Split, SplitBatch
from heterophily.data.wording import short
from heterophily.errors import InputError

LABELS = ("class", "y", "label")
_PART_OF = {"train": 0, "val": 1, "valid": 1, "validation": 1, "test": 2}
_SPLIT = re.compile(r"split(_\d+)?")
_FEATURE = re.compile(r"feature_(0|[1-9]\d{0,8})")


class NodeAttributes:
    """Node attributes as columns; a refusal names the node and the attribute."""

    def __init__(self, node_ids: NDArray[Any], attributes: list[dict[str, Any]]) -> None:
        self.node_ids, self.attributes = node_ids, attributes
        self.names: set[str] = set().union(*attributes)
        self._used: set[str] = set()
        self.feature_names: tuple[str, ...] | None = None

    @property
    def unused(self) -> list[str]:
        """Names of the attributes that were not asked for."""
        return sorted(str(name) for name in self.names - self._used)

    def _cell(self, node: int, name: str) -> str:
        return f"node {short(self.node_ids[node])}, attribute {name!r}"

    def _require(self, name: str) -> str:
        if name not in self.names:
            known = ", ".join(sorted(map(str, self.names))[:12]) or "none"
            raise InputError(f"no node has an attribute {name!r}; attributes: {known}")
        self._used.add(name)
        return name

    def _coded(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        values: dict[str, int] = {}
        codes = np.full(len(self.attributes), -1, np.int64)
        for node, data in enumerate(self.attributes):
            value = data.get(name)
            if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
                continue
            if isinstance(value, list | tuple | set | dict):
                raise InputError(
                    f"{self._cell(node, name)}: a {type(value).__name__}, expected one value per "
                    "node (predict one of several labels as yes/no)"
                )
            codes[node] = values.setdefault(str(value), len(values))
        return list(values), codes

    def labels(
        self, label: str | None, class_names: Any, *, labels_are_classes: bool, remarks: list[str]
    ) -> tuple[NDArray[np.int64] | None, tuple[str, ...] | None]:
        """Return classes 0..C-1 (-1 = unlabelled) and their names; add remarks on them."""
        if label is not None:
            self._require(label)
        else:
            label = next((name for name in LABELS if name in self.names), None)
        names = None if class_names is None else tuple(str(name) for name in class_names)
        if label is None:
            return None, names
        self._used.add(label)
        values, codes = self._coded(label)
        if names is not None and set(values) <= set(names):
            order = np.array([*(names.index(value) for value in values), -1], np.int64)
            return order[codes], names
        classes = encode_words(
            values,
            codes,
            cell=lambda node: self._cell(node, label),
            place=f"node attribute {label!r}",
            remedy="leave the attribute out for an unlabelled node",
            labels_are_classes=labels_are_classes,
        )
        remarks.extend(classes.remarks)
        return classes.labels, classes.names

    def features(self, features: str | Sequence[str] | None, num_features: int | None) -> Any:
        """Return the features as a matrix, CSR if they are dictionaries; ``None`` for none."""
        if features is None and "x" not in self.names:
            return self._numbered()
        if features is None or isinstance(features, str):
            return self._vectors(self._require(features or "x"), num_features)
        self.feature_names = tuple(features)
        columns = [
            [self._scalar(node, name) for node in range(len(self.attributes))]
            for name in map(self._require, features)
        ]
        return np.array(columns, np.float64).T if columns else None

    def _numbered(self) -> sp.csr_array | None:
        """Return the features spread over feature_0, feature_1, ...; missing ones are 0."""
        found = (_FEATURE.fullmatch(str(name)) for name in self.names)
        column_of = {match.group(): int(match.group(1)) for match in found if match}
        if not column_of or max(column_of.values()) >= len(column_of):
            return None
        self._used.update(column_of)
        rows = []
        for node, data in enumerate(self.attributes):
            given = [name for name in data if name in column_of]
            rows.append({column_of[name]: self._finite(node, name, data[name]) for name in given})
        return self._sparse("features", rows, len(column_of))

    def _scalar(self, node: int, name: str) -> float:
        if name not in self.attributes[node]:
            raise InputError(f"{self._cell(node, name)}: missing; every node needs a number here")
        return self._finite(node, name, self.attributes[node][name])

    def _finite(self, node: int, name: str, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise InputError(f"{self._cell(node, name)}: {short(value)} is not a finite number")
        return number

    def _vectors(self, name: str, num_features: int | None) -> Any:
        rows = [data.get(name) for data in self.attributes]
        if any(row is None for row in rows):
            node = next(node for node, row in enumerate(rows) if row is None)
            raise InputError(f"{self._cell(node, name)}: missing; every node needs its features")
        if all(isinstance(row, dict) for row in rows):
            return self._sparse(name, rows, num_features)
        vectors = [np.atleast_1d(np.asarray(row)) for row in rows]
        for node, vector in enumerate(vectors):
            if (
                vector.shape != vectors[0].shape
                or vector.ndim != 1
                or vector.dtype.kind not in "fiub"
            ):
                raise InputError(
                    f"{self._cell(node, name)}: {vector.dtype} of shape {vector.shape}, expected "
                    f"{vectors[0].size} numbers as for the first node"
                )
            if not np.isfinite(vector).all():
                raise InputError(f"{self._cell(node, name)}: holds a number that is not finite")
        return np.stack(vectors)

    def _sparse(self, name: str, rows: list[Any], num_features: int | None) -> sp.csr_array:
        indptr = np.cumsum([0, *(len(row) for row in rows)])
        columns = np.array([int(column) for row in rows for column in row], np.int64)
        values = [
            self._finite(node, name, v) for node, row in enumerate(rows) for v in row.values()
        ]
        width = int(num_features or (columns.max() + 1 if columns.size else 0))
        bad = np.flatnonzero((columns < 0) | (columns >= width))
        if bad.size:
            node = int(np.searchsorted(indptr, bad[0], side="right")) - 1
            raise InputError(
                f"{self._cell(node, name)}: names column {columns[bad[0]]}, but there are only "
                f"{width} features"
            )
        return sp.csr_array((np.array(values, np.float64), columns, indptr), (len(rows), width))

    def splits(self, split: str | None) -> SplitBatch | None:
        """Return the fixed splits, if there are any."""
        if split is not None:
            names = [self._require(split)]
        else:
            found = [name for name in self.names if _SPLIT.fullmatch(str(name))]
            names = sorted(found, key=lambda name: (len(name), name))
        splits = []
        for name in names:
            self._used.add(name)
            values, codes = self._coded(name)
            for code, value in enumerate(values):
                if value.strip().lower() not in _PART_OF:
                    node = int(np.flatnonzero(codes == code)[0])
                    raise InputError(
                        f"{self._cell(node, name)}: {short(value)} is not a part of a split; "
                        "choose train, val or test"
                    )
            parts = np.array([*(_PART_OF[value.strip().lower()] for value in values), -1])[codes]
            splits.append(Split(*(parts == part for part in range(3))))
        return SplitBatch.stack(splits) if splits else None
