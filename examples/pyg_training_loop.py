"""AcmConv in a plain PyTorch Geometric training loop, without our trainer.

Run: python examples/pyg_training_loop.py          (needs: pip install 'heterophily[pyg]')
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.data import Data

from heterophily.layers.acm_conv import AcmConv


class AcmGcn(nn.Module):
    def __init__(self, num_features: int, hidden: int, num_classes: int) -> None:
        super().__init__()
        self.first = AcmConv(num_features, hidden)
        self.second = AcmConv(hidden, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = dropout(x, 0.3, training=self.training)
        x = torch.relu(self.first(x, edge_index))
        x = dropout(x, 0.3, training=self.training)
        return self.second(x, edge_index)


def ring_of_classes(num_nodes: int = 300, num_classes: int = 3) -> Data:
    """Every node's neighbours belong to the next class: no two neighbours are alike."""
    labels = torch.arange(num_nodes) % num_classes
    source = torch.arange(num_nodes).repeat_interleave(4)
    target = num_classes * torch.randint(0, num_nodes // num_classes, source.shape)
    target = target + (labels[source] + 1) % num_classes
    edge_index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    x = nn.functional.one_hot(labels, 12).float() + torch.randn(num_nodes, 12)
    return Data(x=x, edge_index=edge_index, y=labels, train_mask=torch.rand(num_nodes) < 0.5)


def main() -> None:
    torch.manual_seed(0)
    data = ring_of_classes()
    model = AcmGcn(12, 32, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 101):
        model.train()
        optimizer.zero_grad()
        logits = model(data.x, data.edge_index)
        loss = cross_entropy(logits[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            model.eval()
            with torch.no_grad():
                is_right = model(data.x, data.edge_index).argmax(1) == data.y
            test = is_right[~data.train_mask].float().mean().item()
            print(f"epoch {epoch:3d}  loss {loss.item():.3f}  test accuracy {test:.2f}")
    model.eval()
    _, weights = model.first(data.x, data.edge_index, return_weights=True)
    low, high, identity = weights.mean(0).tolist()
    print(f"mean weight of the channels: low {low:.2f}, high {high:.2f}, identity {identity:.2f}")


if __name__ == "__main__":
    main()
