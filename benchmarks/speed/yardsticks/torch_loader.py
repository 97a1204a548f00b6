"""Sampled training as one writes it by hand: PyTorch, SciPy, a DataLoader; everything in memory.

Two layers that add the mean over 10 sampled neighbours (drawn with replacement) to the node's own
features, 64 hidden columns, batches of 8,192 nodes of a random 60 %; then all nodes are predicted
with whole neighbourhoods by sparse products.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

FANOUT = 10


class Means(nn.Module):
    """Two layers on own features and means."""

    def __init__(self, columns: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.own = nn.ModuleList([nn.Linear(columns, hidden), nn.Linear(hidden, classes)])
        self.mean = nn.ModuleList([nn.Linear(columns, hidden), nn.Linear(hidden, classes)])

    def layer(self, number: int, own: Tensor, mean: Tensor) -> Tensor:
        out = self.own[number](own) + self.mean[number](mean)
        return torch.relu(out) if number == 0 else out


def train_in_memory(edge_file: Path, node_file: Path, *, epochs: int) -> dict[str, Any]:
    """Train, predict; return the seconds of every step and the test accuracy."""
    seconds, start = {}, time.perf_counter()
    edges = [column.to_numpy() for column in pq.read_table(edge_file).columns]
    table = pq.read_table(node_file)
    names = [name for name in table.column_names if name not in ("id", "y")]
    x = torch.from_numpy(np.stack([table[name].to_numpy() for name in names], axis=1))
    y = torch.from_numpy(table["y"].to_numpy().astype(np.int64))
    count = y.numel()
    del table
    ones = np.ones(edges[0].size, np.float32)
    matrix = sp.csr_array((ones, (edges[0], edges[1])), shape=(count, count))
    matrix = sp.csr_array(matrix + matrix.T)
    del edges, ones
    matrix.data[:] = 1.0
    begin, ends = torch.from_numpy(matrix.indptr.astype(np.int64)), torch.from_numpy(matrix.indices)
    degree = begin.diff()
    seconds["read"] = time.perf_counter() - start

    def draw(nodes: Tensor) -> Tensor:  # (n, FANOUT); a node without neighbours draws itself
        place = (torch.rand(nodes.numel(), FANOUT) * degree[nodes, None]).long()
        drawn = ends[(begin[nodes, None] + place).clamp(max=ends.numel() - 1)].long()
        return torch.where(degree[nodes, None] > 0, drawn, nodes[:, None])

    order = torch.randperm(count)
    train, test = order[: int(0.6 * count)], order[int(0.8 * count) :]
    model = Means(x.shape[1], 64, int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = DataLoader(train, batch_size=8192, shuffle=True)
    start = time.perf_counter()
    for _ in range(epochs):
        for nodes in loader:
            near = draw(nodes)  # (n, k)
            known, place = torch.unique(torch.cat([nodes, near.ravel()]), return_inverse=True)
            far = draw(known)
            hidden = model.layer(0, x[known], x[far.ravel()].view(*far.shape, -1).mean(1))
            own, around = hidden[place[: nodes.numel()]], hidden[place[nodes.numel() :]]
            logits = model.layer(1, own, around.view(*near.shape, -1).mean(1))
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, y[nodes]).backward()
            optimizer.step()
    seconds["train"] = time.perf_counter() - start
    start = time.perf_counter()
    with torch.no_grad():
        inverse = 1.0 / degree.clamp(min=1).numpy().astype(np.float32)[:, None]
        hidden = x
        for number in (0, 1):
            mean = torch.from_numpy(matrix @ hidden.numpy() * inverse)
            hidden = model.layer(number, hidden, mean)
        accuracy = float((hidden.argmax(1) == y)[test].float().mean())
    seconds["predict"] = time.perf_counter() - start
    rounded = {name: round(value, 1) for name, value in seconds.items()}
    return {"seconds": rounded, "test_accuracy": round(accuracy, 4)}
