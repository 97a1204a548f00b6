"""Your own PyTorch Geometric network in our trainer, beside ACM-GCN on the same splits.

Run: python examples/train_your_pyg_model.py       (needs: pip install 'heterophily[pyg]')
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import TransformerConv

from heterophily.data.splits import random_splits
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.pyg_adapter import pyg_model
from heterophily.training.config import TrainConfig
from heterophily.training.replicas import Replica, fit_replicas


class MyNet(nn.Module):
    """Anything that maps (x, edge_index) to logits."""

    def __init__(self, num_features: int, num_classes: int, hidden: int) -> None:
        super().__init__()
        self.first = TransformerConv(num_features, hidden)
        self.second = TransformerConv(hidden, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


def main() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    graph = edge_homophily_graph(
        homophily=0.2,
        edges=900,
        features=np.eye(12)[labels] + rng.normal(size=(300, 12)),
        labels=labels,
        rng=rng,
    )
    splits = random_splits(graph.labels, repeats=3, seed=0)
    config = TrainConfig(lr=0.01, weight_decay=5e-4, max_epochs=200)
    for name, spec in {"mine": pyg_model(MyNet, hidden=16), "acm-gcn": MODELS["acm-gcn"]}.items():
        inputs = GraphInputs.from_graph(graph, spec.inputs)
        build = partial(
            spec.build,
            num_nodes=inputs.num_nodes,
            num_features=inputs.num_features,
            num_classes=graph.num_classes,
        )
        replicas = [Replica(build, split, config, seed) for seed, split in enumerate(splits)]
        results = fit_replicas(replicas, inputs, graph.labels)
        accuracy = sum(result.test_accuracy for result in results) / len(results)
        print(f"{name:8} test accuracy {accuracy:.3f} over {len(results)} splits")


if __name__ == "__main__":  # worker processes import this file
    main()
