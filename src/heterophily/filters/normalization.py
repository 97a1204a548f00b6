"""Normalised adjacency operators: Â as a matrix, or as two scalings around the stored adjacency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError

Normalization = Literal["random-walk", "symmetric"]
NORMALIZATIONS: tuple[str, ...] = get_args(Normalization)


def degrees(adjacency: sp.csr_array) -> NDArray[np.float64]:
    """Return the row sums d of an adjacency matrix, (N,): out-degrees when it is directed.

    >>> degrees(sp.csr_array([[0.0, 2.0], [2.0, 0.0]]))
    array([2., 2.])
    """
    if (adjacency.data == 1).all():
        return np.asarray(np.diff(adjacency.indptr), dtype=np.float64)
    # Not adjacency.sum(): it adds float32 weights in float32, whatever dtype is asked for.
    return np.asarray(adjacency @ np.ones(adjacency.shape[1]), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NormalizedAdjacency:
    r"""The operator Â in factored form: ``diag(left) (A + loop I) diag(right)``.

    No value of Â and no ``A + I`` is stored; a product costs one product with A. With
    ``renormalize``, Ã = A + I and D̃ = D + I take the place of A and D (section 2.1 of the paper):

    .. math:: \hat A_\text{rw} = \tilde D^{-1} \tilde A, \qquad
              \hat A_\text{sym} = \tilde D^{-1/2} \tilde A \tilde D^{-1/2}

    Build it with :meth:`of`. Loops stored in A stay, so such a node gets ``A_vv + 1`` on the
    diagonal of Ã. Without renormalisation the row of a node without neighbours is zero.
    In a directed graph row v holds the edges from v, and D the out-degrees (on both sides of the
    symmetric form).
    """

    adjacency: sp.csr_array  # (N, N)
    left: NDArray[np.float64]  # (N,)
    right: NDArray[np.float64] | None  # (N,), None = all ones
    loop: float  # 1 with renormalisation, else 0

    @classmethod
    def of(
        cls,
        adjacency: sp.csr_array,
        *,
        kind: Normalization = "random-walk",
        renormalize: bool = True,
        row_sums: NDArray[np.float64] | None = None,
    ) -> NormalizedAdjacency:
        """Factor the normalised form of an adjacency matrix of not negative weights.

        ``row_sums`` are its :func:`degrees`, for a caller who has them.
        """
        if kind not in NORMALIZATIONS:
            raise InputError(f"kind={kind!r}; choose 'random-walk' or 'symmetric'")
        matrix = sp.csr_array(adjacency)
        loop = 1.0 if renormalize else 0.0
        total = (degrees(matrix) if row_sums is None else row_sums) + loop
        inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        if kind == "random-walk":
            return cls(matrix, inverse, None, loop)
        root = np.sqrt(inverse)
        return cls(matrix, root, root, loop)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (N, N)."""
        return int(self.left.size), int(self.left.size)

    def __matmul__(self, signal: NDArray[Any]) -> NDArray[np.float64]:
        """Return Â times a signal of shape (N,) or (N, K), in float64."""
        scaled = signal if self.right is None else _scale(self.right, signal)
        product = np.asarray(self.adjacency @ scaled, dtype=np.float64)
        if self.loop:
            product += scaled
        return _scale(self.left, product, in_place=True)

    def transpose_matmul(self, signal: NDArray[Any]) -> NDArray[np.float64]:
        """Return Âᵀ times a signal of shape (N,) or (N, K), in float64."""
        scaled = _scale(self.left, signal)
        product = np.asarray(self.adjacency.T @ scaled, dtype=np.float64)
        if self.loop:
            product += scaled
        return product if self.right is None else _scale(self.right, product, in_place=True)

    def to_csr(self) -> sp.csr_array:
        """Return Â as a CSR matrix of float64, indices sorted, the stored zeros of no row added."""
        matrix = self.adjacency.astype(np.float64)
        if self.loop:
            matrix = sp.csr_array(matrix + sp.eye_array(self.left.size, format="csr"))
        matrix.sort_indices()
        values = matrix.data * np.repeat(self.left, np.diff(matrix.indptr))
        if self.right is not None:
            values *= self.right[matrix.indices]
        result = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        result.has_canonical_format = True
        return result


def _scale(
    factor: NDArray[np.float64], signal: NDArray[Any], *, in_place: bool = False
) -> NDArray[np.float64]:
    """Multiply every row of a signal by its factor."""
    column = factor.reshape(-1, *([1] * (signal.ndim - 1)))
    return np.asarray(np.multiply(column, signal, out=signal if in_place else None))


def normalized_adjacency(
    adjacency: sp.csr_array, *, kind: Normalization = "random-walk", renormalize: bool = True
) -> sp.csr_array:
    r"""Return the normalised adjacency Â as a CSR matrix of float64 (section 2.1).

    ``kind="random-walk"`` gives :math:`\tilde D^{-1}\tilde A`, the mean over a node and its
    neighbours that the paper uses; ``"symmetric"`` gives
    :math:`\tilde D^{-1/2}\tilde A\tilde D^{-1/2}`. With ``renormalize=False``, A and D without
    the added loops; rows of nodes without neighbours then stay zero.

    >>> normalized_adjacency(sp.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return NormalizedAdjacency.of(adjacency, kind=kind, renormalize=renormalize).to_csr()
