"""Your own PyTorch Geometric network in our trainer, beside ACM-GCN on the same splits.

Run: python examples/train_your_pyg_model.py       (needs: pip install 'heterophily[pyg]')
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import TransformerConv

from heterophily import TrainConfig, edge_homophily_graph, pyg_model, train


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
    config = TrainConfig(lr=0.01, weight_decay=5e-4, max_epochs=200)
    for name, model in {"mine": pyg_model(MyNet, hidden=16), "acm-gcn": "acm-gcn"}.items():
        report = train(model, graph, repeats=3, config=config)
        print(f"{name:8} test accuracy {report.test_accuracy['mean']:.3f} over 3 splits")


if __name__ == "__main__":  # worker processes import this file
    main()
