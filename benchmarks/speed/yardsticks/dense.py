"""Yardstick (a): what the released code does.

Dense X, dense A_hat for the low pass, I - A_hat as a COO matrix for the high pass, three separate
products, dense dropout on X, plain Adam, an evaluation that records an autograd graph.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax, nll_loss

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.filters.normalization import normalized_adjacency
from yardsticks.weights import Layer, TwoLayers


class DenseChannels:
    def __init__(self, graph: Graph, with_structure: bool) -> None:
        low = torch.from_numpy(normalized_adjacency(graph.adjacency).toarray()).float()
        self.low = low
        self.high = (torch.eye(len(low)) - low).to_sparse()
        structure = torch.from_numpy(graph.adjacency.toarray()).float().to_sparse()
        self.structure = structure if with_structure else None

    def __call__(self, layer: Layer, hidden: Tensor) -> list[Tensor]:
        weights = layer.weights
        channels = [
            torch.relu(torch.mm(self.low, torch.mm(hidden, weights[0]))),
            torch.relu(torch.spmm(self.high, torch.mm(hidden, weights[1]))),
            torch.relu(torch.mm(hidden, weights[2])),
        ]
        if self.structure is not None:
            channels.append(torch.relu(torch.mm(self.structure, weights[3])))
        return channels


class DenseEpochs:
    """The authors' epoch: training step, then evaluation with gradients recorded."""

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
            DenseChannels(graph, with_structure),
        )
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=lr, weight_decay=weight_decay, fused=False
        )
        self.train = torch.from_numpy(np.array(split.train))
        self.validation = torch.from_numpy(np.array(split.validation))

    def __call__(self) -> None:
        self.model.train()
        self.optimizer.zero_grad()
        logits = log_softmax(self.model(self.features), dim=1)
        loss = nll_loss(logits[self.train], self.labels[self.train])
        self._accuracy(logits, self.train)
        loss.backward()
        self.optimizer.step()
        loss.item()
        self.model.eval()
        logits = log_softmax(self.model(self.features), dim=1)
        nll_loss(logits[self.validation], self.labels[self.validation]).item()
        self._accuracy(logits, self.validation)

    def _accuracy(self, logits: Tensor, mask: Tensor) -> float:
        right = logits[mask].max(1)[1].eq(self.labels[mask]).double().sum()
        return right.item() / int(mask.sum())
