"""The linear maps of all channels: one weight, one pass over the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from heterophily.layers.propagation import NARROW
from heterophily.layers.sparse_features import SparseFeatures

Block: TypeAlias = Tensor | SparseFeatures
LayerInput: TypeAlias = Block | tuple[Block, ...]
"""Input of a layer, (N, F): dense, sparse, or blocks side by side (snowball's ``[X, H_1, ..]``)."""


def channel_products(source: LayerInput, weight: Tensor) -> Sequence[Tensor]:
    """Return ``source @ weight[k]`` for a stack of weights (K, F, H): K tensors (N, H).

    >>> import torch
    >>> [product.tolist() for product in channel_products(torch.eye(2), torch.ones(1, 2, 1))]
    [[[1.0], [1.0]]]
    """
    if isinstance(source, tuple):
        return _sum_over_blocks(source, weight)
    if isinstance(source, SparseFeatures):
        return source.products(weight)
    num_channels, fan_in, width = weight.shape
    if num_channels == 1 or num_channels * width > NARROW:
        return [source @ panel for panel in weight.unbind()]
    side_by_side = weight.transpose(0, 1).reshape(fan_in, num_channels * width)
    return torch.split(source @ side_by_side, width, dim=1)


def _sum_over_blocks(blocks: tuple[Block, ...], weight: Tensor) -> Sequence[Tensor]:
    """Multiply each block by its rows of the weight, so that the blocks are never joined."""
    rows = torch.split(weight, [block.shape[1] for block in blocks], dim=1)
    totals = channel_products(blocks[0], rows[0])
    for block, part in zip(blocks[1:], rows[1:], strict=True):
        products = channel_products(block, part)
        totals = [total + product for total, product in zip(totals, products, strict=True)]
    return totals
