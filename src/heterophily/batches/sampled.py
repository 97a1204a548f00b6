"""Mini-batches of sampled neighbourhoods; evaluation and prediction are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from heterophily.batches.blocks import as_block
from heterophily.batches.neighbourhoods import Neighbourhoods
from heterophily.batches.runs_of_rows import Nodes, node_batches
from heterophily.batches.streamed import StreamedNetwork
from heterophily.channels.rows import ahead
from heterophily.channels.stored import read_rows, release
from heterophily.layers.channel_linear import Block
from heterophily.layers.inputs import GraphInputs

_BATCHES = 1 << 20  # of one epoch, at most
_RELEASE_EVERY = 64  # batches


class SampledBatches:
    """Batches for networks of layers (ACM stacks, residual stacks).

    Parameters
    ----------
    neighbourhoods
        Draws what a batch sees.
    whole
        The whole graph as tensors, when it is in memory: exact evaluation is one pass.
    scratch
        Folder for the exact evaluation of a graph that is not.
    """

    def __init__(
        self,
        neighbourhoods: Neighbourhoods,
        *,
        whole: GraphInputs | None = None,
        scratch: str | Path = ".",
    ) -> None:
        self.neighbourhoods, self.whole, self.scratch = neighbourhoods, whole, scratch
        self.num_nodes = neighbourhoods.operator.num_nodes

    def batches(
        self, nodes: Nodes, size: int, *, seed: int, epoch: int, part: Callable[[Nodes], Nodes]
    ) -> Iterator[tuple[GraphInputs, Nodes]]:
        """Iterate over the training nodes; the next batch is drawn while this one trains."""

        def draw() -> Iterator[tuple[GraphInputs, Nodes]]:
            for number, whole in enumerate(node_batches(nodes, size, seed=seed, epoch=epoch)):
                batch = part(whole)
                found = self.neighbourhoods.inputs(
                    batch, seed=seed, round=epoch * _BATCHES + number
                )
                if number % _RELEASE_EVERY == _RELEASE_EVERY - 1:
                    release(self.neighbourhoods.features)
                yield found, batch

        yield from ahead(draw())

    def forward(self, model: nn.Module, inputs: Any) -> Tensor:
        """Return the logits (n, C) of a batch."""
        logits: Tensor = model(inputs)
        return logits

    def exact(
        self, model: nn.Module, nodes: Nodes | None
    ) -> Iterator[tuple[Nodes | slice, Tensor]]:
        """Iterate over logits of some nodes, or of all, over the whole neighbourhood."""
        for rows, logits, _ in self.exact_weights(model):
            if nodes is None:
                yield rows, logits
                continue
            first, last = np.searchsorted(nodes, [rows.start, rows.stop])
            yield nodes[first:last], logits[nodes[first:last] - rows.start]

    @torch.no_grad()
    def exact_weights(self, model: nn.Module) -> Iterator[tuple[slice, Tensor, list[Tensor]]]:
        """Iterate over all nodes: rows, logits (n, C), mixing weights (n, K) of each layer."""
        if self.whole is None:
            yield from self.streamed().run(model)
            return
        from heterophily.models.networks import NodeClassifier

        model.eval()
        weights: list[Tensor] = []
        if isinstance(model, NodeClassifier):
            logits, found = model(self.whole, return_weights=True)
            weights = list(found)
        else:
            logits = model(self.whole)
        yield slice(0, self.num_nodes), logits, weights

    def streamed(self) -> StreamedNetwork:
        """Return what runs a network on all nodes without holding the graph."""
        of = self.neighbourhoods

        def features(rows: slice) -> Block:
            return as_block(of.scale.apply(read_rows(of.features, rows), rows, slice(None)))

        return StreamedNetwork(of.operator, features, scratch=self.scratch, threads=of.threads)
