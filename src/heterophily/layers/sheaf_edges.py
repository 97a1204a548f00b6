"""What the maps of a sheaf do between neighbours, with gradients that store little.

Each pair of neighbours is stored once, as an edge of the upper triangle: its row is one end, its
column the other. The maps of both ends stand side by side, so that nothing is looked up in the
other direction: (d, 2, P) for diagonal maps and (d, d, 2, P) for whole ones, 0 for the map of the
row and 1 for that of the column. Entries come first: work on them is work on long arrays and not
on many small matrices. The operator of the transports is symmetric, so its backward pass is itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from heterophily.layers.edges import Edges, padded


def maps_of_ends(received: Tensor, sent: Tensor, pairs: Edges) -> Tensor:
    """Return the tanh of what both ends give each map, (N, K), (N, K) -> (K, 2, P).

    The map of an end: ``tanh(received[this end, k] + sent[other end, k])``.
    """
    found: Tensor = _MapsOfEnds.apply(received, sent, pairs)  # type: ignore[no-untyped-call]
    return found


def transported(maps: Tensor, signal: Tensor, pairs: Edges) -> Tensor:
    """Sum ``F_v^T F_u x_u`` over the neighbours u of each node v, (N, d, K) -> (N, d, K)."""
    function = _DiagonalTransport if maps.ndim == 3 else _Transport
    found: Tensor = function.apply(maps, signal, pairs)  # type: ignore[no-untyped-call]
    return found


def own_products(maps: Tensor, pairs: Edges) -> Tensor:
    """Sum ``F_v^T F_v`` over the neighbours of each node v: (N, d) or (N, d, d)."""
    function = _DiagonalSquares if maps.ndim == 3 else _Squares
    found: Tensor = function.apply(maps, pairs)  # type: ignore[no-untyped-call]
    return found


def _end_sums(row: Tensor, column: Tensor, pairs: Edges) -> Tensor:
    """Sum at each node what its pairs have for it, as their row or column: (P,), (P,) -> (N, 1)."""
    return pairs.row_sums(row.unsqueeze(1)).add_(pairs.column_sums(column.unsqueeze(1)))


def _at_ends(signal: Tensor, pairs: Edges, *, out: Tensor) -> None:
    """Give each pair the signals (N,) of its row and its column, (2, P)."""
    for place, nodes in zip(out, (pairs.rows, pairs.matrix.indices), strict=True):
        torch.index_select(signal, 0, nodes, out=place)


class _MapsOfEnds(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, received: Tensor, sent: Tensor, pairs: Edges) -> Tensor:
        maps = received.new_empty(received.shape[1], 2, pairs.num_edges)
        other = received.new_empty(2, pairs.num_edges)
        heads = zip(maps, received.t().contiguous(), sent.t().contiguous(), strict=True)
        for both, receiver, sender in heads:
            _at_ends(receiver, pairs, out=both)
            _at_ends(sender, pairs, out=other)
            both[0].add_(other[1])
            both[1].add_(other[0])
            both.mul_(2.0).sigmoid_().mul_(2.0).sub_(1.0)  # tanh, in a fifth of its time
        ctx.pairs = pairs
        ctx.save_for_backward(maps)
        return maps

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (maps,), for_received, for_sent = ctx.saved_tensors, [], []
        for both, pull in zip(maps, gradients[0], strict=True):
            row, column = torch.addcmul(pull, pull * both, both, value=-1.0)
            for_received.append(_end_sums(row, column, ctx.pairs))
            for_sent.append(_end_sums(column, row, ctx.pairs))
        return torch.cat(for_received, 1), torch.cat(for_sent, 1), None


def _parts(signal: Tensor) -> tuple[Tensor, ...]:
    """Split (N, d, K) into d contiguous parts."""
    return signal.transpose(0, 1).contiguous().unbind()


def _inner(left: Tensor, right: Tensor, *, out: Tensor) -> None:
    """Sum the products of rows, (d, P), (d, P) -> (P,), without storing them."""
    torch.mul(left[0], right[0], out=out)
    for one, other in zip(left[1:], right[1:], strict=True):
        out.addcmul_(one, other)


class _DiagonalTransport(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, signal: Tensor, pairs: Edges) -> Tensor:
        ctx.pairs = pairs
        ctx.save_for_backward(maps, signal)
        return _diagonally_moved(maps, signal, pairs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (maps, signal), pairs, pull = ctx.saved_tensors, ctx.pairs, gradients[0]
        for_maps = torch.empty_like(maps)
        for place, one, seen in zip(for_maps, _parts(pull), _parts(signal), strict=True):
            one, seen = padded(one), padded(seen)
            found = pairs.inner_products(one, seen).add_(pairs.inner_products(seen, one))
            place[:] = found
        return for_maps.mul_(maps.flip(1)), _diagonally_moved(maps, pull, pairs), None


def _diagonally_moved(maps: Tensor, signal: Tensor, pairs: Edges) -> Tensor:
    found = []
    for (row, column), part in zip(maps, _parts(signal), strict=True):
        weights = row * column
        found.append(pairs.product(weights, part).add_(pairs.transpose_product(weights, part)))
    return torch.stack(found, dim=1)


class _Transport(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, signal: Tensor, pairs: Edges) -> Tensor:
        size = maps.shape[0]
        blocks = maps.new_empty(size, size, pairs.num_edges)  # F_v^T F_u, v the row, u the column
        for i, line in enumerate(blocks):
            for j, block in enumerate(line):
                _inner(maps[:, i, 0], maps[:, j, 1], out=block)
        ctx.pairs = pairs
        ctx.save_for_backward(maps, blocks, signal)
        return _moved(blocks, signal, pairs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (maps, blocks, signal), pairs, pull = ctx.saved_tensors, ctx.pairs, gradients[0]
        pulls, seen = ([padded(part) for part in _parts(side)] for side in (pull, signal))
        for_blocks = torch.empty_like(blocks)
        for i, line in enumerate(for_blocks):
            for j, block in enumerate(line):
                torch.add(
                    pairs.inner_products(pulls[i], seen[j]),
                    pairs.inner_products(seen[i], pulls[j]),
                    out=block,
                )
        for_maps = torch.empty_like(maps)
        for k, lines in enumerate(for_maps):
            for i, place in enumerate(lines):
                _inner(for_blocks[i], maps[k, :, 1], out=place[0])
                _inner(for_blocks[:, i], maps[k, :, 0], out=place[1])
        return for_maps, _moved(blocks, pull, pairs), None


def _moved(blocks: Tensor, signal: Tensor, pairs: Edges) -> Tensor:
    parts = _parts(signal)
    found = [torch.zeros_like(part) for part in parts]
    for i, line in enumerate(blocks):
        for j, block in enumerate(line):
            found[i].add_(pairs.product(block, parts[j]))
            found[j].add_(pairs.transpose_product(block, parts[i]))
    return torch.stack(found, dim=1)


class _DiagonalSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, pairs: Edges) -> Tensor:
        ctx.pairs = pairs
        ctx.save_for_backward(maps)
        return torch.cat([_end_sums(row, column, pairs) for row, column in maps.square()], dim=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (maps,) = ctx.saved_tensors
        found = torch.empty_like(maps)
        for pull, place in zip((2.0 * gradients[0]).t().contiguous(), found, strict=True):
            _at_ends(pull, ctx.pairs, out=place)
        return found.mul_(maps), None


class _Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, pairs: Edges) -> Tensor:
        ctx.pairs, size = pairs, maps.shape[0]
        ctx.save_for_backward(maps)
        totals = maps.new_empty(pairs.num_nodes, size, size)
        row, column = product = maps.new_empty(2, pairs.num_edges)
        for i, j in _upper(size):
            _inner(maps[:, i], maps[:, j], out=product)
            totals[:, i, j] = totals[:, j, i] = _end_sums(row, column, pairs).squeeze(1)
        return totals

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (maps,) = ctx.saved_tensors
        pull, size = gradients[0] + gradients[0].mT, maps.shape[0]
        found, here = torch.zeros_like(maps), torch.empty_like(maps[0, 0])
        for i, j in _upper(size):
            _at_ends(pull[:, i, j].contiguous(), ctx.pairs, out=here)
            for k in range(size):
                found[k, i].addcmul_(maps[k, j], here)
                if i != j:
                    found[k, j].addcmul_(maps[k, i], here)
        return found, None


def _upper(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(i, size)]


# --- blocks of nodes -----------------------------------------------------------------------------


def blocks_times(blocks: Tensor, signal: Tensor) -> Tensor:
    """Multiply blocks (N or 1, d, d) by a signal (N, d, K); its gradient works on whole columns."""
    found: Tensor = _BlocksTimes.apply(blocks, signal)  # type: ignore[no-untyped-call]
    return found


class _BlocksTimes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, blocks: Tensor, signal: Tensor) -> Tensor:
        ctx.save_for_backward(blocks, signal)
        return blocks @ signal  # a matrix product, so that counters of operations see it

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
