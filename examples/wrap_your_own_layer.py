"""Give any layer three channels: GraphSAGE and GAT of PyTorch Geometric, and one of your own.

Run: python examples/wrap_your_own_layer.py        (needs: pip install 'heterophily[pyg]')

On a graph whose neighbours mostly differ, a layer that only averages its neighbours loses what
tells the nodes apart. `acm(Layer)` makes a twin with a low-pass, a high-pass and an identity
channel, each with a layer of its own, mixed with weights that are learned for each node.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.nn import GATConv, SAGEConv

from heterophily import acm


def two_sided_graph(num_nodes: int = 240, degree: int = 6, noise: float = 2.0):
    """Return features, edges and labels; nine of ten neighbours belong to the other class."""
    labels = torch.arange(num_nodes) % 2
    source = torch.arange(num_nodes).repeat_interleave(degree)
    is_other = torch.rand(source.numel()) < 0.9
    target_class = torch.where(is_other, 1 - labels[source], labels[source])
    target = 2 * torch.randint(0, num_nodes // 2, source.shape) + target_class
    edge_index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    features = noise * torch.randn(num_nodes, 8)
    features[:, 0] += 2.0 * labels - 1.0
    return features, edge_index, labels


class MyLayer(nn.Module):
    """A layer of your own: anything that maps node features to node features."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.out_features = out_features  # tells `acm` the width
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.linear(x))


class Network(nn.Module):
    def __init__(self, first: nn.Module, second: nn.Module, *, is_twin: bool, takes_edges: bool):
        super().__init__()
        self.first, self.second = first, second
        self.is_twin, self.takes_edges = is_twin, takes_edges

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        # A twin is called with the adjacency of its filters, then with the layer's own arguments.
        arguments = (edge_index,) * (self.is_twin + self.takes_edges)
        return self.second(torch.relu(self.first(x, *arguments)), *arguments)


def accuracy(model: nn.Module, x: Tensor, edge_index: Tensor, labels: Tensor) -> float:
    is_train = torch.rand(labels.numel()) < 0.5
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-3)
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(model(x, edge_index)[is_train], labels[is_train]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        is_right = model(x, edge_index).argmax(1) == labels
    return is_right[~is_train].float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    graph = two_sided_graph()
    layers = {
        "GraphSAGE": (SAGEConv, True),
        "GAT": (GATConv, True),
        "MyLayer": (MyLayer, False),
    }
    print(f"{'layer':<10}{'alone':>8}{'acm':>8}{'acmii':>8}   test accuracy")
    for name, (layer, takes_edges) in layers.items():
        makers = {
            "alone": layer,
            "acm": acm(layer),
            "acmii": acm(layer, order="activate-then-filter"),
        }
        row = f"{name:<10}"
        for kind, make in makers.items():
            model = Network(
                make(8, 16), make(16, 2), is_twin=kind != "alone", takes_edges=takes_edges
            )
            row += f"{accuracy(model, *graph):>8.2f}"
        print(row)


if __name__ == "__main__":
    main()
