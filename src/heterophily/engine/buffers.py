"""A prepared graph as the buffers that the native engine reads."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from heterophily.engine.operators import OPERATORS
from heterophily.engine.parameters import NotCoveredError, address
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.sparse_features import SparseFeatures
from heterophily.layers.sparse_matrix import SparseMatrix
from heterophily.native import structs
from heterophily.native.quotient import quotient_of

_INT32_MAX = 2**31 - 1


class GraphBuffers:
    """The arrays of a graph and the struct that points to them.

    Parameters
    ----------
    inputs
        The prepared graph; something else raises :class:`NotCoveredError`.
    labels
        (N,) classes; -1 = unlabelled.
    num_classes
        Number of columns of the logits.
    """

    def __init__(self, inputs: Any, labels: NDArray[np.int64], num_classes: int) -> None:
        if not isinstance(inputs, GraphInputs):
            raise NotCoveredError(f"inputs of type {type(inputs).__name__} run in torch")
        self.dtype = inputs.operator.matrix.dtype
        if inputs.operator.matrix.device.type != "cpu":
            raise NotCoveredError("the graph is on another device than the CPU")
        self.inputs, self._keep = inputs, list[Any]()
        self._others = (structs.Sparse * len(OPERATORS))()
        labels32 = self._array(labels, np.int32)
        structure = inputs.structure.matrix if inputs.structure is not None else None
        self.struct = structs.GraphStruct(
            is_double=self.dtype == torch.float64,
            num_classes=num_classes,
            num_nodes=inputs.num_nodes,
            features=self._features(inputs.features),
            op=self._sparse(inputs.operator.matrix),
            structure=structs.Sparse() if structure is None else self._sparse(structure),
            quotient=self._quotient(inputs.operator.matrix),
            structure_quotient=(
                structs.QuotientStruct() if structure is None else self._quotient(structure)
            ),
            labels=address(labels32),
            others=ctypes.addressof(self._others),
            num_others=len(OPERATORS),
        )

    def prepare(self, operators: Iterable[str]) -> None:
        """Add further operators of :data:`OPERATORS`, each once."""
        for place, (name, make) in enumerate(OPERATORS.items()):
            if name in operators and not self._others[place].indptr:
                self._others[place] = self._sparse(make(self.inputs).matrix)

    def _features(self, features: SparseFeatures | torch.Tensor) -> structs.Sparse:
        if isinstance(features, SparseFeatures):
            return self._sparse(features.matrix, with_order=True)
        # Every entry is stored, so that entry numbers are positions in the dense matrix.
        rows, cols = features.shape
        values = np.ascontiguousarray(features.numpy())
        numbers = np.arange(values.size, dtype=np.uint32).reshape(rows, cols)
        return self._struct(
            (rows, cols),
            np.arange(rows + 1) * cols,
            np.tile(np.arange(cols), rows),
            values,
            np.arange(cols + 1) * rows,
            np.tile(np.arange(rows), cols),
            np.ascontiguousarray(values.T),
            np.ascontiguousarray(numbers.T),
        )

    def _sparse(self, matrix: SparseMatrix, *, with_order: bool = False) -> structs.Sparse:
        if max(matrix.num_nonzeros, *matrix.shape) > _INT32_MAX:
            raise NotCoveredError("the graph has more than 2^31 entries")
        return self._struct(
            matrix.shape,
            matrix.indptr.numpy(),
            matrix.indices.numpy(),
            matrix.values.numpy(),
            matrix.transpose_indptr.numpy(),
            matrix.transpose_indices.numpy(),
            matrix.transpose_values.numpy(),
            matrix.transpose_order.numpy() if with_order else None,
        )

    def _quotient(self, matrix: SparseMatrix) -> structs.QuotientStruct:
        parts = (matrix.values.numpy(), matrix.indices.numpy(), matrix.indptr.numpy())
        found = quotient_of(sp.csr_array(parts, shape=matrix.shape))
        if found is None:
            return structs.QuotientStruct()
        dtype = parts[0].dtype
        most = max(found.members.nnz, found.classes.nnz, matrix.shape[0])
        return structs.QuotientStruct(
            num_classes=found.classes.shape[0],
            member_indptr=address(self._array(found.members.indptr, np.int64)),
            members=address(self._array(found.members.indices, np.int32)),
            class_of=address(self._array(found.class_of, np.int32)),
            indptr=address(self._array(found.classes.indptr, np.int64)),
            indices=address(self._array(found.classes.indices, np.int32)),
            ones=address(self._array(np.ones(most, dtype))),
            member_scale=address(self._array(found.scale[found.members.indices], dtype)),
            scale=address(self._array(found.scale, dtype)),
            diagonal=address(self._array(found.diagonal, dtype)),
        )

    def _struct(
        self,
        shape: tuple[int, int],
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        transpose_indptr: NDArray[Any],
        transpose_indices: NDArray[Any],
        transpose_values: NDArray[Any],
        order: NDArray[Any] | None,
    ) -> structs.Sparse:
        return structs.Sparse(
            rows=shape[0],
            cols=shape[1],
            indptr=address(self._array(indptr, np.int64)),
            indices=address(self._array(indices, np.int32)),
            values=address(self._array(values)),
            transpose_indptr=address(self._array(transpose_indptr, np.int64)),
            transpose_indices=address(self._array(transpose_indices, np.int32)),
            transpose_values=address(self._array(transpose_values)),
            transpose_order=None if order is None else address(self._array(order, np.uint32)),
        )

    def _array(self, array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
        found = np.ascontiguousarray(array, dtype=dtype)
        self._keep.append(found)
        return found
