# %% [markdown]
# # AcmConv in a plain PyTorch Geometric training loop
#
# No trainer of ours: a module, an optimiser, a loop. `from_pyg` and `to_pyg` change between PyG's
# `Data` and our `Graph`, so that metrics and diagnosis are one call away.
#
# Run: `python examples/pyg_training_loop.py` (needs `pip install 'heterophily[pyg]'`)

# %%
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.data import Data

from heterophily import AcmConv, edge_homophily, from_pyg, modified_aggregation_homophily, to_pyg


# %%
def ring_of_classes(num_nodes: int = 300, num_classes: int = 3) -> Data:
    """Every node's neighbours belong to the next class: no two neighbours are alike."""
    labels = torch.arange(num_nodes) % num_classes
    source = torch.arange(num_nodes).repeat_interleave(4)
    target = num_classes * torch.randint(0, num_nodes // num_classes, source.shape)
    target = target + (labels[source] + 1) % num_classes
    edge_index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    x = nn.functional.one_hot(labels, 12).float() + torch.randn(num_nodes, 12)
    return Data(x=x, edge_index=edge_index, y=labels)


torch.manual_seed(0)
graph = from_pyg(ring_of_classes())
print(f"edge homophily {edge_homophily(graph):.2f}")
print(f"modified aggregation homophily {modified_aggregation_homophily(graph):.2f}")


# %% [markdown]
# ## The network
#
# `AcmConv(in, out)` takes `(x, edge_index)` as PyG's layers do. Between layers you write your own
# ReLU and dropout.


# %%
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


# %%
data = to_pyg(graph)
x = data.x.float()
is_train = torch.rand(graph.num_nodes) < 0.5
model = AcmGcn(graph.num_features, 32, graph.num_classes)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 101):
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(x, data.edge_index)[is_train], data.y[is_train])
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        model.eval()
        with torch.no_grad():
            is_right = model(x, data.edge_index).argmax(1) == data.y
        accuracy = is_right[~is_train].float().mean().item()
        print(f"epoch {epoch:3d}  loss {loss.item():.3f}  test accuracy {accuracy:.2f}")

# %% [markdown]
# ## What it learned
#
# Each node has its own weights of the three channels; they add up to one.

# %%
model.eval()
with torch.no_grad():
    _, weights = model.first(x, data.edge_index, return_weights=True)
low, high, identity = weights.mean(0).tolist()
print(f"mean weight of the channels: low {low:.2f}, high {high:.2f}, identity {identity:.2f}")
