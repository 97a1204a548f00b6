"""Yardstick (b): the same network as one writes it with PyTorch Geometric.

Dense X, ``MessagePassing`` (gather, then scatter-add) for the low and the high pass and for A W_A,
plain Adam, evaluation without gradients.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch_geometric.nn import MessagePassing

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.filters.normalization import normalized_adjacency
from yardsticks.weights import Layer, TwoLayers


class Aggregate(MessagePassing):
    """``A x`` for a weighted edge list."""

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__(aggr="add")
        coo = matrix.tocoo()
        self.edges = torch.from_numpy(np.stack([coo.col, coo.row]).astype(np.int64))
        self.values = torch.from_numpy(coo.data.astype(np.float32))

    def forward(self, x: Tensor) -> Tensor:
        return self.propagate(self.edges, x=x, values=self.values)  # type: ignore[no-any-return]

    def message(self, x_j: Tensor, values: Tensor) -> Tensor:
        return values[:, None] * x_j


class MessageChannels:
    def __init__(self, graph: Graph, with_structure: bool) -> None:
        self.low = Aggregate(normalized_adjacency(graph.adjacency))
        self.structure = Aggregate(graph.adjacency) if with_structure else None

    def __call__(self, layer: Layer, hidden: Tensor) -> list[Tensor]:
        low, high, identity = (hidden @ layer.weights[k] for k in range(3))
        channels = [
            torch.relu(self.low(low)),
            torch.relu(high - self.low(high)),
            torch.relu(identity),
        ]
        if self.structure is not None:
            channels.append(torch.relu(self.structure(layer.weights[3])))
        return channels


class MessagePassingEpochs:
    """The usual PyTorch Geometric loop: training step, then evaluation under ``no_grad``."""

    def __init__(
        self,
        graph: Graph,
        split: Split,
        *,
        features: Tensor,
        hidden: int,
        rate: float,
        lr: float,
        weight_decay: float,
        with_structure: bool,
    ) -> None:
        self.features = features
        self.labels = torch.from_numpy(np.array(graph.labels))
        self.model = TwoLayers(
            (features.shape[1], hidden, graph.num_classes),
            graph.num_nodes if with_structure else None,
            rate,
            MessageChannels(graph, with_structure),
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr, weight_decay=weight_decay)
        self.train = torch.from_numpy(np.array(split.train))
        self.validation = torch.from_numpy(np.array(split.validation))

    def __call__(self) -> None:
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(self.features)
        loss = cross_entropy(logits[self.train], self.labels[self.train])
        loss.backward()
        self.optimizer.step()
        loss.item()
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.features)[self.validation]
            labels = self.labels[self.validation]
            cross_entropy(logits, labels).item()
            (logits.argmax(1) == labels).float().mean().item()
