# %% [markdown]
# # Your own PyTorch Geometric network beside ACM-GCN
#
# Same splits, same stopping rule, same seeds, and a paired test that knows that the training sets
# of random splits overlap.
#
# Run: `python examples/train_your_pyg_model.py` (needs `pip install 'heterophily[pyg]'`)

# %%
import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import TransformerConv

from heterophily import TrainConfig, edge_homophily_graph, pyg_model, random_splits, train
from heterophily.statistics.paired_tests import all_pairs

# %% [markdown]
# ## Your model
#
# Anything that maps `(x, edge_index)` to logits, one row per node. `pyg_model` hands it the number
# of features and of classes, then your own arguments.


# %%
class MyNet(nn.Module):
    def __init__(self, num_features: int, num_classes: int, hidden: int) -> None:
        super().__init__()
        self.first = TransformerConv(num_features, hidden)
        self.second = TransformerConv(hidden, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


# %%
rng = np.random.default_rng(0)
labels = np.arange(300) % 3
graph = edge_homophily_graph(
    homophily=0.05,
    edges=1500,
    features=np.eye(12)[labels] + rng.normal(size=(300, 12)),
    labels=labels,
    rng=rng,
)

# %% [markdown]
# ## Train both
#
# Split i and the seed of run i follow from `(seed, i)`, so both models see the same splits.
# `workers=1` keeps the script free of worker processes, which do not pay for runs this short.

# %%
models = {"mine": pyg_model(MyNet, hidden=16), "gcn": "gcn", "acm-gcn": "acm-gcn"}
config = TrainConfig(lr=0.02, weight_decay=5e-4, max_epochs=80)
accuracies = {}
for name, model in models.items():
    report = train(model, graph, repeats=4, seed=0, config=config, workers=1, engine="auto")
    accuracies[name] = report.test_accuracy["values"]
    mean, std = report.test_accuracy["mean"], report.test_accuracy["std"]
    print(f"{name:8} test accuracy {mean:.3f} ± {std:.3f} over {len(accuracies[name])} splits")

# %%
num_train, _, num_test = random_splits(graph.labels, repeats=1, seed=0)[0].sizes
for test in all_pairs(accuracies, test_to_train=num_test / num_train):
    verdict = "differ clearly" if test.is_significant() else "do not differ clearly"
    print(f"{test.first} and {test.second} {verdict} (p = {test.corrected:.3f})")
