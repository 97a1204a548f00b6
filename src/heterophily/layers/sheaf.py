"""Cellular sheaves on a graph: restriction maps, and their normalised Laplacian as an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from heterophily.layers.edges import Edges, row_totals, turned_around, weighted_sum


@dataclass(frozen=True, eq=False)
class SheafLaplacian:
    r"""The operator :math:`\Delta = (D + I)^{-1/2} L (D + I)^{-1/2}` in blocks of d x d.

    L is the sheaf Laplacian of Bodnar et al. (2022), Definition 2: for the edge e between v and u

    .. math:: L_{vv} = D_v = \sum_e F_{v \to e}^T F_{v \to e}, \qquad
              L_{vu} = -F_{v \to e}^T F_{u \to e}

    The I beside D (their appendix) keeps isolated nodes and vanishing maps invertible; with
    identity maps this is :math:`I - \tilde D^{-1/2} \tilde A \tilde D^{-1/2}`.
    """

    transport: Tensor  # (E, d, d): F_v^T F_u of every edge, from u to v; (E, d) for diagonal maps
    degree: Tensor  # (N, d, d), (N, d), or (N, 1) for multiples of the identity
    inverse_root: Tensor  # (D + I)^-1/2, of the shape of ``degree``
    edges: Edges

    def __call__(self, signal: Tensor) -> Tensor:
        """Apply the operator to a signal (N, d, K)."""
        scaled = _blocks_times(self.inverse_root, signal)
        moved = self._transported(scaled)
        return _blocks_times(self.inverse_root, _blocks_times(self.degree, scaled) - moved)

    def _transported(self, signal: Tensor) -> Tensor:
        """Return the sums of ``F_v^T F_u x_u`` over the neighbours u of each v."""
        if self.transport.ndim == 2:
            return weighted_sum(self.transport, signal, self.edges)
        stalk = signal.shape[1]
        # One product per entry of the blocks: the messages of the edges are never stored.
        repeated = signal.repeat(1, stalk, 1)  # (N, d * d, K)
        products = weighted_sum(self.transport.flatten(1), repeated, self.edges)
        return products.view(-1, stalk, stalk, signal.shape[2]).sum(2)


def fixed_laplacian(signs: Sequence[float], edges: Edges) -> SheafLaplacian:
    r"""Build the operators :math:`\tilde D^{-1/2} (D - s A) \tilde D^{-1/2}`, one for each sign s.

    With s = 1 it is the Laplacian of the graph itself (a high pass), with s = -1 the Laplacian
    without signs (a low pass). Each acts on one dimension of a signal (N, number of signs, K).
    """
    degree = edges.matrix.indptr.diff().to(edges.values.dtype).unsqueeze(1)
    transport = edges.values.new_tensor(signs).expand(edges.num_edges, -1)
    return SheafLaplacian(transport, degree, (degree + 1.0).rsqrt(), edges)


def _blocks_times(blocks: Tensor, signal: Tensor) -> Tensor:
    return blocks @ signal if blocks.ndim == 3 else blocks.unsqueeze(2) * signal


def diagonal_laplacian(maps: Tensor, edges: Edges) -> SheafLaplacian:
    """Build the Laplacian of diagonal maps, (E, d): row e maps the receiving end of edge e."""
    entries = maps.t().contiguous()  # one array of edges for each entry
    transport = (entries * turned_around(entries, edges)).t()
    degree = row_totals(maps.square(), edges)
    return SheafLaplacian(transport, degree, (degree + 1.0).rsqrt(), edges)


def orthogonal_laplacian(maps: Tensor, edges: Edges) -> SheafLaplacian:
    """Build the Laplacian of orthogonal maps, (E, d, d); D is the degree of the graph."""
    entries = _entries(maps)
    transport = _blocks(_product(entries, turned_around(entries, edges)))
    degree = edges.matrix.indptr.diff().to(maps.dtype).unsqueeze(1)
    return SheafLaplacian(transport, degree, (degree + 1.0).rsqrt(), edges)


def general_laplacian(maps: Tensor, edges: Edges) -> SheafLaplacian:
    """Build the Laplacian of any maps, (E, d, d)."""
    entries = _entries(maps)
    transport = _blocks(_product(entries, turned_around(entries, edges)))
    own = _product(entries, entries).flatten(0, 1).t()
    degree = row_totals(own, edges).view(-1, *maps.shape[1:])
    eye = torch.eye(maps.shape[1], dtype=maps.dtype, device=maps.device)
    return SheafLaplacian(transport, degree, inverse_root(degree + eye), edges)


def _entries(maps: Tensor) -> Tensor:
    """Store (E, d, d) as one array of edges for each entry: (d, d, E)."""
    return maps.movedim(0, 2).contiguous()


def _blocks(entries: Tensor) -> Tensor:
    """Show (d, d, E) as (E, d, d), in place."""
    return entries.movedim(2, 0)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """Return ``L^T R`` of every edge, (d, d, E): whole arrays at a time, not small matrices."""
    found: Tensor = _TransposedProduct.apply(left, right)  # type: ignore[no-untyped-call]
    return found


class _TransposedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        ctx.save_for_backward(left, right)
        return _outer_sum(left.unsqueeze(2), right.unsqueeze(1))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        left, right = ctx.saved_tensors
        pull = gradients[0].contiguous()
        # To L: R G^T, summed over the columns of both; to R: L G, summed over the rows of G.
        for_left = _outer_sum(right.transpose(0, 1).unsqueeze(2), pull.transpose(0, 1).unsqueeze(1))
        for_right = _outer_sum(left.transpose(0, 1).unsqueeze(2), pull.unsqueeze(1))
        return for_left, for_right


def _outer_sum(left: Tensor, right: Tensor) -> Tensor:
    """Sum the products of the k-th parts, without storing them."""
    total = left[0] * right[0]
    for one, other in zip(left[1:], right[1:], strict=True):
        total.addcmul_(one, other)
    return total


def householder(entries: Tensor, stalk: int) -> Tensor:
    r"""Return orthogonal matrices, (E, d, d), from d (d - 1) / 2 numbers each.

    The product of the reflections :math:`I - 2 v_k v_k^T / |v_k|^2`, where :math:`v_k` has zeros
    before place k, a one at it, and free entries after it.

    >>> turned = householder(torch.randn(4, 3), 3)
    >>> torch.allclose(turned @ turned.transpose(1, 2), torch.eye(3), atol=1e-5)
    True
    """
    count = entries.shape[0]
    eye = torch.eye(stalk, dtype=entries.dtype, device=entries.device)
    columns = [column.unsqueeze(1).expand(-1, count) for column in eye]  # of the product, (d, E)
    numbers = iter(entries.t().contiguous())
    for place in range(stalk - 1):
        free = [next(numbers) for _ in range(place + 1, stalk)]
        seen = columns[place]
        for number, column in zip(free, columns[place + 1 :], strict=True):
            seen = torch.addcmul(seen, column, number)
        seen = seen * (2.0 / (1.0 + torch.stack(free).square().sum(0)))
        columns[place] = columns[place] - seen
        for after, number in enumerate(free, start=place + 1):
            columns[after] = torch.addcmul(columns[after], seen, number, value=-1.0)
    return _blocks(torch.stack(columns, dim=1))


def inverse_root(matrices: Tensor) -> Tensor:
    """Return :math:`M^{-1/2}` of symmetric positive definite matrices, (N, d, d).

    The gradient divides by sums of roots of eigenvalues, never by their differences, so equal
    eigenvalues do no harm.
    """
    found: Tensor = _InverseRoot.apply(matrices)  # type: ignore[no-untyped-call]
    return found


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
