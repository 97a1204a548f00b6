"""Mini-batches of channels that were computed once: the graph is gone, nodes are seen alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from heterophily.batches.blocks import as_block
from heterophily.batches.runs_of_rows import Nodes, node_batches
from heterophily.channels.channels import Channels
from heterophily.channels.operator import WIDEST
from heterophily.channels.rows import ahead
from heterophily.layers.channel_linear import Block
from heterophily.models.networks import RowWise

RELEASE_BYTES = 256 * 2**20
"""Bytes of mapped files that are read before their pages are let go."""


AROUND = 1 << 16
"""Bytes that the system maps around a place of a file that is touched."""

EXACT_NUMBERS = 1 << 23
"""Numbers of one channel that are in memory at a time while all nodes are evaluated."""


class ChannelBatches:
    """Batches for a network that sees single nodes (:class:`RowWise`).

    Parameters
    ----------
    channels
        The channels of the graph.
    names
        Those that the network sees.
    run_length
        Consecutive training nodes that stay together in a batch: 1 in memory, more on disk.
    """

    def __init__(self, channels: Channels, names: tuple[str, ...], *, run_length: int = 1) -> None:
        self.channels, self.names, self.run_length = channels, names, run_length
        self.num_nodes = channels.num_nodes
        self._read = 0

    def batches(
        self, nodes: Nodes, size: int, *, seed: int, epoch: int, part: Callable[[Nodes], Nodes]
    ) -> Iterator[tuple[Mapping[str, Block], Nodes]]:
        """Iterate over the training nodes; the next batch is read while this one trains."""
        every = node_batches(nodes, size, seed=seed, epoch=epoch, run_length=self.run_length)
        mine = map(part, every)
        yield from ahead((self._blocks(batch), batch) for batch in mine)

    def forward(self, model: nn.Module, inputs: Any) -> Tensor:
        """Return the logits (n, C) of a batch."""
        assert isinstance(model, RowWise)
        return model.on_rows(inputs)

    def exact(
        self, model: nn.Module, nodes: Nodes | None, size: int = 1 << 14
    ) -> Iterator[tuple[Nodes | slice, Tensor]]:
        """Iterate over logits of some nodes, or of all, in evaluation mode."""
        for rows, logits, _ in self.exact_weights(model, nodes, size):
            yield rows, logits

    @torch.no_grad()
    def exact_weights(
        self, model: nn.Module, nodes: Nodes | None, size: int = 1 << 14
    ) -> Iterator[tuple[Nodes | slice, Tensor, list[Tensor]]]:
        """Do the same, with the mixing weights (n, K) of each layer."""
        assert isinstance(model, RowWise)
        model.eval()
        size = max(256, min(size, EXACT_NUMBERS // self.channels.num_columns))
        count = self.num_nodes if nodes is None else nodes.size

        def read() -> Iterator[tuple[Nodes | slice, Mapping[str, Block]]]:
            for at in range(0, count, size):
                end = min(at + size, count)
                rows = slice(at, end) if nodes is None else nodes[at:end]
                yield rows, self._blocks(rows)

        for rows, blocks in ahead(read()):
            weights: list[Tensor] = []
            yield rows, model.on_rows(blocks, weights=weights), weights

    def _mapped(self, rows: Nodes | slice) -> int:
        """Return about how many bytes of files the system maps for rows at random places."""
        if self.run_length == 1 or isinstance(rows, slice):
            return 0
        runs = -(-rows.size // self.run_length)
        panels = -(-self.channels.num_columns // WIDEST) * len(self.names)
        return runs * panels * AROUND

    def _blocks(self, rows: Nodes | slice) -> dict[str, Block]:
        found = self.channels.rows(self.names, rows)
        self._read += max(sum(block.data.nbytes for block in found), self._mapped(rows))
        if self._read > RELEASE_BYTES:
            self._read = 0
            self.channels.release()
        return {name: as_block(block) for name, block in zip(self.names, found, strict=True)}
