"""Mini-batches of nodes: short runs of consecutive nodes in a drawn order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]


def node_batches(
    nodes: Nodes, size: int, *, seed: int, epoch: int, run_length: int = 1
) -> Iterator[Nodes]:
    """Iterate over all nodes in batches of ``size``, in an order that follows from seed and epoch.

    ``nodes`` are ascending. Runs of ``run_length`` of them stay together, so that a batch reads
    files in a few places; runs are shuffled, and each batch is sorted.

    >>> [batch.tolist() for batch in node_batches(np.arange(6), 4, seed=0, epoch=1, run_length=2)]
    [[0, 1, 4, 5], [2, 3]]
    """
    starts = np.arange(0, nodes.size, run_length)
    np.random.default_rng([seed, epoch]).shuffle(starts)
    per_batch = max(1, size // run_length)
    for at in range(0, starts.size, per_batch):
        chosen = starts[at : at + per_batch, None] + np.arange(run_length)
        places = np.sort(chosen[chosen < nodes.size])
        yield nodes[places]
