"""What the maps of a sheaf do along the edges, with gradients that store little.

Maps of edges are stored entry by entry, (d, E) or (d, d, E): each entry is one array of edges, so
that work on them is work on long arrays and not on many small matrices. The pattern of the edges
is symmetric, so the operator of the transports is symmetric too: its backward pass is itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from heterophily.layers.edges import Edges


def maps_of_ends(received: Tensor, sent: Tensor, edges: Edges) -> Tensor:
    """Return the tanh of what both ends give each edge, (N, K), (N, K) -> (K, E).

    Row k, edge e: ``tanh(received[row, k] + sent[column, k])``.
    """
    found: Tensor = _MapsOfEnds.apply(received, sent, edges)  # type: ignore[no-untyped-call]
    return found


def transported(maps: Tensor, signal: Tensor, edges: Edges) -> Tensor:
    """Sum ``F_v^T F_u x_u`` over the neighbours u of each node v, (N, d, K) -> (N, d, K).

    ``maps`` are diagonal, (d, E), or whole, (d, d, E); that of edge e belongs to the end that
    receives, that of the other end is found at the edge in the other direction.
    """
    function = _DiagonalTransport if maps.ndim == 2 else _Transport
    found: Tensor = function.apply(maps, signal, edges)  # type: ignore[no-untyped-call]
    return found


def own_products(maps: Tensor, edges: Edges) -> Tensor:
    """Sum ``F_v^T F_v`` over the edges of each node, (d, E) -> (N, d) or (d, d, E) -> (N, d, d)."""
    function = _DiagonalSquares if maps.ndim == 2 else _Squares
    found: Tensor = function.apply(maps, edges)  # type: ignore[no-untyped-call]
    return found


def turned_around(maps: Tensor, edges: Edges) -> Tensor:
    """Give every edge what the edge in the other direction has, (.., E) -> (.., E); no gradient."""
    found = torch.empty_like(maps)
    for row, place in zip(maps.flatten(0, -2), found.flatten(0, -2), strict=True):
        torch.index_select(row, 0, edges.transpose_order, out=place)
    return found


def _row_sums(row: Tensor, edges: Edges) -> Tensor:
    return edges.row_sums(row.unsqueeze(1)).squeeze(1)


class _MapsOfEnds(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, received: Tensor, sent: Tensor, edges: Edges) -> Tensor:
        maps = received.new_empty(received.shape[1], edges.num_edges)
        heads = zip(maps, received.t().contiguous(), sent.t().contiguous(), strict=True)
        for row, receiver, sender in heads:
            torch.index_select(receiver, 0, edges.rows, out=row)
            row.add_(sender.index_select(0, edges.matrix.indices))
            row.mul_(2.0).sigmoid_().mul_(2.0).sub_(1.0)  # tanh, in a fifth of its time
        ctx.edges = edges
        ctx.save_for_backward(maps)
        return maps

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (maps,), edges = ctx.saved_tensors, ctx.edges
        to_rows, to_columns = [], []
        for row, pull in zip(maps, gradients[0], strict=True):
            pulled = torch.addcmul(pull, pull * row, row, value=-1.0).unsqueeze(1)
            to_rows.append(edges.row_sums(pulled))
            to_columns.append(edges.column_sums(pulled))
        return torch.cat(to_rows, 1), torch.cat(to_columns, 1), None


class _DiagonalTransport(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, signal: Tensor, edges: Edges) -> Tensor:
        other = turned_around(maps, edges)
        weights = maps * other
        ctx.edges = edges
        ctx.save_for_backward(other, weights, signal)
        return _by_entry(weights, signal, edges)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (other, weights, signal), edges, pull = ctx.saved_tensors, ctx.edges, gradients[0]
        for_weights = torch.empty_like(weights)
        for place, (one, seen) in enumerate(zip(_parts(pull), _parts(signal), strict=True)):
            for_weights[place] = edges.inner_products(one, seen)
        for_maps = turned_around(for_weights, edges).add_(for_weights).mul_(other)
        return for_maps, _by_entry(weights, pull, edges), None


def _parts(signal: Tensor) -> tuple[Tensor, ...]:
    """Split (N, d, K) into d contiguous parts."""
    return signal.transpose(0, 1).contiguous().unbind()


def _by_entry(weights: Tensor, signal: Tensor, edges: Edges) -> Tensor:
    parts = zip(weights, _parts(signal), strict=True)
    return torch.stack([edges.product(values, part) for values, part in parts], dim=1)


class _Transport(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, signal: Tensor, edges: Edges) -> Tensor:
        other = turned_around(maps, edges)
        blocks = torch.empty_like(maps)
        for i, row in enumerate(blocks):
            for j, block in enumerate(row):
                _inner(maps[:, i], other[:, j], out=block)  # F_v^T F_u, entry i, j
        ctx.edges = edges
        ctx.save_for_backward(other, blocks, signal)
        return _by_block(blocks, signal, edges)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (other, blocks, signal), edges, pull = ctx.saved_tensors, ctx.edges, gradients[0]
        # For the blocks of both directions: G_e + G_e'^T; then through F_u to the map of v.
        for_blocks = torch.empty_like(blocks)
        for i, one in enumerate(_parts(pull)):
            for j, seen in enumerate(_parts(signal)):
                for_blocks[i, j] = edges.inner_products(one, seen)
        joined = turned_around(for_blocks, edges).transpose(0, 1).add_(for_blocks)
        for_maps = torch.empty_like(blocks)
        for k, row in enumerate(for_maps):
            for i, entry in enumerate(row):
                _inner(joined[i], other[k], out=entry)
        return for_maps, _by_block(blocks, pull, edges), None


def _inner(left: Tensor, right: Tensor, *, out: Tensor) -> None:
    """Sum the products of rows, (d, E), (d, E) -> (E,), without storing them."""
    torch.mul(left[0], right[0], out=out)
    for one, other in zip(left[1:], right[1:], strict=True):
        out.addcmul_(one, other)


def _by_block(blocks: Tensor, signal: Tensor, edges: Edges) -> Tensor:
    parts, found = _parts(signal), []
    for row in blocks:
        total = edges.product(row[0], parts[0])
        for values, part in zip(row[1:], parts[1:], strict=True):
            total.add_(edges.product(values, part))
        found.append(total)
    return torch.stack(found, dim=1)


class _DiagonalSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, edges: Edges) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(maps)
        return torch.stack([_row_sums(row.square(), edges) for row in maps], dim=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (maps,) = ctx.saved_tensors
        found = torch.empty_like(maps)
        for row, pull, place in zip(maps, (2.0 * gradients[0]).t(), found, strict=True):
            torch.index_select(pull.contiguous(), 0, ctx.edges.rows, out=place)
            place.mul_(row)
        return found, None


class _Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, edges: Edges) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(maps)
        size = maps.shape[0]
        totals = maps.new_empty(edges.num_nodes, size, size)
        product = maps.new_empty(edges.num_edges)
        for i in range(size):
            for j in range(i, size):
                _inner(maps[:, i], maps[:, j], out=product)
                totals[:, i, j] = totals[:, j, i] = _row_sums(product, edges)
        return totals

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (maps,), rows = ctx.saved_tensors, ctx.edges.rows
        pull, size = gradients[0] + gradients[0].mT, maps.shape[0]
        on_edges = {
            (i, j): pull[:, i, j].index_select(0, rows) for i in range(size) for j in range(i, size)
        }
        found = torch.zeros_like(maps)
        for i in range(size):
            for j in range(size):
                for k in range(size):
                    found[k, i].addcmul_(maps[k, j], on_edges[min(i, j), max(i, j)])
        return found, None


# --- blocks of nodes -----------------------------------------------------------------------------


def blocks_times(blocks: Tensor, signal: Tensor) -> Tensor:
    """Multiply blocks (N or 1, d, d) by a signal (N, d, K): whole columns, not small matrices."""
    found: Tensor = _BlocksTimes.apply(blocks, signal)  # type: ignore[no-untyped-call]
    return found


class _BlocksTimes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, blocks: Tensor, signal: Tensor) -> Tensor:
        ctx.save_for_backward(blocks, signal)
        return _blocks_times(blocks, signal)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (blocks, signal), pull = ctx.saved_tensors, gradients[0]
        for_blocks = torch.stack(
            [(pull * part.unsqueeze(1)).sum(2) for part in signal.unbind(1)], dim=2
        )
        if blocks.shape[0] == 1:
            for_blocks = for_blocks.sum(0, keepdim=True)
        return for_blocks, _blocks_times(blocks.mT, pull)


def _blocks_times(blocks: Tensor, signal: Tensor) -> Tensor:
    first, *others = (column.unsqueeze(2) for column in blocks.unbind(2))  # (N, d, 1) each
    seen, *rest = (part.unsqueeze(1) for part in signal.unbind(1))  # (N, 1, K) each
    total = first * seen
    for column, part in zip(others, rest, strict=True):
        total.addcmul_(column, part)
    return total
