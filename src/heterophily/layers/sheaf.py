"""Cellular sheaves on a graph: restriction maps, and their normalised Laplacian as an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from heterophily.layers.edges import Edges
from heterophily.layers.propagation import product
from heterophily.layers.sheaf_edges import blocks_times, own_products, transported


@dataclass(frozen=True, eq=False)
class SheafLaplacian:
    r"""The operator :math:`\Delta = (D + I)^{-1/2} L (D + I)^{-1/2}` in blocks of d x d.

    L is the sheaf Laplacian of Bodnar et al. (2022), Definition 2: for the edge e between v and u

    .. math:: L_{vv} = D_v = \sum_e F_{v \to e}^T F_{v \to e}, \qquad
              L_{vu} = -F_{v \to e}^T F_{u \to e}

    The I beside D (their appendix) keeps isolated nodes and vanishing maps invertible; with
    identity maps this is :math:`I - \tilde D^{-1/2} \tilde A \tilde D^{-1/2}`.
    """

    transport: Callable[[Tensor], Tensor]  # x -> sums of F_v^T F_u x_u over the neighbours of v
    degree: Tensor  # (N, d, d), (N, d), or (N, 1) for multiples of the identity
    inverse_root: Tensor  # (D + I)^-1/2, of the shape of ``degree``

    def __call__(self, signal: Tensor) -> Tensor:
        """Apply the operator to a signal (N, d, K)."""
        scaled = _times(self.inverse_root, signal)
        moved = _times(self.degree, scaled) - self.transport(scaled)
        return _times(self.inverse_root, moved)


def _times(blocks: Tensor, signal: Tensor) -> Tensor:
    return blocks_times(blocks, signal) if blocks.ndim == 3 else blocks.unsqueeze(2) * signal


def fixed_laplacian(signs: Sequence[float], pairs: Edges) -> SheafLaplacian:
    r"""Build the operators :math:`\tilde D^{-1/2} (D - s A) \tilde D^{-1/2}`, one for each sign s.

    With s = 1 it is the Laplacian of the graph itself (a high pass), with s = -1 the Laplacian
    without signs (a low pass). Each acts on one dimension of a signal (N, number of signs, K).
    """

    def transport(signal: Tensor) -> Tensor:
        flat = signal.flatten(1)
        heard = product(flat, pairs.matrix) + product(flat, pairs.matrix, is_transposed=True)
        return heard.view_as(signal) * signal.new_tensor(signs).unsqueeze(1)

    degree = _degree(pairs)
    return SheafLaplacian(transport, degree, (degree + 1.0).rsqrt())


def _degree(pairs: Edges) -> Tensor:
    """The number of neighbours, (N, 1)."""
    counts = pairs.matrix.indptr.diff() + pairs.matrix.transpose_indptr.diff()
    return counts.to(pairs.values.dtype).unsqueeze(1)


def diagonal_laplacian(maps: Tensor, pairs: Edges) -> SheafLaplacian:
    """Build the Laplacian of diagonal maps, (d, 2, P)."""
    degree = own_products(maps, pairs)
    return SheafLaplacian(_transport(maps, pairs), degree, (degree + 1.0).rsqrt())


def orthogonal_laplacian(maps: Tensor, pairs: Edges) -> SheafLaplacian:
    """Build the Laplacian of orthogonal maps, (d, d, 2, P); D is the degree of the graph."""
    degree = _degree(pairs)
    return SheafLaplacian(_transport(maps, pairs), degree, (degree + 1.0).rsqrt())


def general_laplacian(maps: Tensor, pairs: Edges) -> SheafLaplacian:
    """Build the Laplacian of any maps, (d, d, 2, P)."""
    degree = own_products(maps, pairs)
    eye = torch.eye(maps.shape[0], dtype=maps.dtype, device=maps.device)
    return SheafLaplacian(_transport(maps, pairs), degree, inverse_root(degree + eye))


def _transport(maps: Tensor, pairs: Edges) -> Callable[[Tensor], Tensor]:
    return lambda signal: transported(maps, signal, pairs)


def householder(entries: Tensor, stalk: int) -> Tensor:
    r"""Return orthogonal matrices, (d, d, E), from d (d - 1) / 2 numbers each, one row a number.

    The product of the reflections :math:`I - 2 v_k v_k^T / |v_k|^2`, where :math:`v_k` has zeros
    before place k, a one at it, and free entries after it.

    >>> turned = householder(torch.randn(3, 4), 3).movedim(2, 0)
    >>> torch.allclose(turned @ turned.mT, torch.eye(3), atol=1e-5)
    True
    """
    count = entries.shape[1]
    eye = torch.eye(stalk, dtype=entries.dtype, device=entries.device)
    columns = [column.unsqueeze(1).expand(-1, count) for column in eye]  # of the product, (d, E)
    numbers = iter(entries)
    for place in range(stalk - 1):
        free = [next(numbers) for _ in range(place + 1, stalk)]
        seen = columns[place]
        for number, column in zip(free, columns[place + 1 :], strict=True):
            seen = torch.addcmul(seen, column, number)
        seen = seen * (2.0 / (1.0 + torch.stack(free).square().sum(0)))
        columns[place] = columns[place] - seen
        for after, number in enumerate(free, start=place + 1):
            columns[after] = torch.addcmul(columns[after], seen, number, value=-1.0)
    return torch.stack(columns, dim=1)


def inverse_root(matrices: Tensor) -> Tensor:
    """Return :math:`M^{-1/2}` of symmetric positive definite matrices, (N, d, d).

    The gradient divides by sums of roots of eigenvalues, never by their differences, so equal
    eigenvalues do no harm.
    """
    if matrices.shape[1] == 2:
        return _inverse_root_of_pairs(matrices)
    found: Tensor = _InverseRoot.apply(matrices)  # type: ignore[no-untyped-call]
    return found


def _inverse_root_of_pairs(matrices: Tensor) -> Tensor:
    r"""Return :math:`M^{-1/2} = (s t)^{-1} (\text{adj} M + s I)`, (N, 2, 2), without eigenvalues.

    s is the root of the determinant, t that of the trace plus 2 s (Cayley and Hamilton).
    """
    first, other, last = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1]
    root = (first * last - other.square()).sqrt()
    scale = 1.0 / (root * (first + last + 2.0 * root).sqrt())
    rows = [torch.stack(row, 1) for row in ((last + root, -other), (-other, first + root))]
    return torch.stack(rows, 1) * scale.view(-1, 1, 1)


class _InverseRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrices: Tensor) -> Tensor:
        values, vectors = torch.linalg.eigh(matrices)
        roots = values.sqrt()
        ctx.save_for_backward(roots, vectors)
        found: Tensor = vectors @ (vectors / roots.unsqueeze(1)).mT
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        roots, vectors = ctx.saved_tensors
        left, right = roots.unsqueeze(2), roots.unsqueeze(1)
        inner = vectors.mT @ gradients[0] @ vectors
        pulled = -inner / (left * right * (left + right))
        pulled = vectors @ pulled @ vectors.mT
        symmetric: Tensor = 0.5 * (pulled + pulled.mT)
        return symmetric


LAPLACIANS: dict[str, Callable[[Tensor, Edges], SheafLaplacian]] = {
    "diagonal": diagonal_laplacian,
    "orthogonal": orthogonal_laplacian,
    "general": general_laplacian,
}
"""Kinds of restriction maps."""
