from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import torch
from dense_models import small_graph
from torch import nn

from heterophily.data.splits import random_splits
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.models.pyg_adapter import pyg_model, pyg_tensors
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas


class Neighbours(nn.Module):
    """A module as users write them, without PyTorch Geometric."""

    def __init__(self, num_features: int, num_classes: int, hidden: int = 4) -> None:
        super().__init__()
        self.first = nn.Linear(num_features, hidden)
        self.second = nn.Linear(hidden, num_classes)

    def forward(self, x, edge_index):
        source, target = edge_index
        hidden = torch.relu(self.first(x))
        return self.second(hidden.index_add(0, target, hidden[source]))


class Pair(Neighbours):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index)[:, :1]


def sizes(graph):
    return {
        "num_nodes": graph.num_nodes,
        "num_features": graph.num_features,
        "num_classes": graph.num_classes,
    }


@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_module_sees_dense_features_and_both_directions_of_every_edge(is_sparse):
    graph = small_graph(is_sparse=is_sparse)
    spec = pyg_model(Neighbours).with_options(features="counts")
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=torch.float64)
    x, edge_index = pyg_tensors(inputs)
    wanted = graph.features.toarray() if is_sparse else np.array(graph.features)
    sums = np.abs(wanted).sum(1, keepdims=True)
    np.testing.assert_allclose(x.numpy(), wanted / np.where(sums > 0, sums, 1))
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[edge_index[1], edge_index[0]] = 1
    np.testing.assert_array_equal(matrix, graph.adjacency.toarray())
    assert pyg_tensors(inputs)[0] is x


def test_it_trains_in_our_trainer_and_its_result_depends_on_the_seed_alone():
    graph = small_graph()
    spec = pyg_model(Neighbours, hidden=6)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    pickle.loads(pickle.dumps(spec))  # as worker processes need it
    build = partial(spec.build, **sizes(graph))
    split = random_splits(graph.labels, repeats=1, seed=0)[0]
    config = TrainConfig(max_epochs=15)
    replicas = [Replica(build, split, config, seed) for seed in (1, 2)]
    both = fit_replicas(replicas, inputs, graph.labels, workers=1)
    alone = fit_replicas(replicas[1:], inputs, graph.labels, workers=1)
    losses = both.by_replica[1].history.train_loss
    np.testing.assert_array_equal(losses, alone.by_replica[0].history.train_loss)
    assert losses[-1] < losses[0]


def test_layers_of_pytorch_geometric_fit_as_they_are():
    models = pytest.importorskip(
        "torch_geometric.nn.models", reason="needs the extra: heterophily[pyg]"
    )
    graph = small_graph()

    def make(num_features, num_classes):
        return models.GCN(num_features, 8, num_layers=2, out_channels=num_classes)

    spec = pyg_model(make)
    network = spec.build(**sizes(graph))
    logits = network(GraphInputs.from_graph(graph, spec.inputs))
    assert logits.shape == (graph.num_nodes, graph.num_classes)


def test_a_module_with_the_wrong_output_is_named():
    graph = small_graph()
    spec = pyg_model(Pair)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    with pytest.raises(InputError, match=r"Pair returned \(14, 1\).*\(14, 3\)"):
        spec.build(**sizes(graph))(inputs)
    with pytest.raises(InputError, match="give a module class"):
        pyg_model(3)
