"""The same questions to every network of MODELS; a new entry is tested by being there.

Models that fit themselves, without gradient steps, are asked in test_learners.py.
"""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn.functional import cross_entropy

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.layers.inputs import GraphInputs
from heterophily.learning.learner import Learner
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas

N, F, C = 24, 30, 4


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


NETWORKS = [name for name, spec in MODELS.items() if not issubclass(spec.network, Learner)]
EVERY_MODEL = pytest.mark.parametrize("name", NETWORKS)


def make_graph(seed=0) -> Graph:
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N, size=(2, 60))
    labels = np.arange(N) % C
    features = sp.random_array((N, F), density=0.2, rng=rng, format="csr")
    return Graph.from_edges(source, target, features=features, labels=labels)


def small(name):
    """Return the model with few columns; heads that share them must divide them."""
    spec = MODELS[name].with_options(hidden=6)
    return spec.with_options(heads=2) if spec.accepts("heads") else spec


def build(name, graph, *, dropout=0.3, seed=0, dtype=torch.float64):
    spec = small(name).with_options(dropout=dropout)
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=dtype)
    torch.manual_seed(seed)
    return spec.build(num_nodes=N, num_features=F, num_classes=C).to(dtype), inputs


def train(model, inputs, labels, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, fused=True)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@EVERY_MODEL
def test_it_learns_its_training_nodes(name):
    graph = make_graph()
    model, inputs = build(name, graph, dropout=0.0, dtype=torch.float32)
    losses = train(model, inputs, torch.from_numpy(graph.labels.copy()), 60)
    assert losses[-1] < 0.9 * losses[0]


@EVERY_MODEL
def test_every_parameter_receives_a_gradient(name):
    graph = make_graph()
    model, inputs = build(name, graph, dropout=0.0)
    logits = model(inputs)
    assert logits.shape == (N, C)
    (logits * torch.randn(N, C, dtype=logits.dtype)).sum().backward()
    for title, parameter in model.named_parameters():
        assert parameter.grad is not None, title
        assert parameter.grad.abs().max() > 0, title


@EVERY_MODEL
def test_relabelling_nodes_and_node_indexed_weights_relabels_the_outputs(name):
    graph = make_graph()
    order = np.random.default_rng(1).permutation(N)
    moved = Graph(
        adjacency=graph.adjacency[order][:, order],
        features=graph.features[order],
        labels=graph.labels[order],
    )
    model, inputs = build(name, graph)
    twin, moved_inputs = build(name, moved)
    state = model.state_dict()
    for title in state:
        if title.endswith("structure_weight"):
            state[title] = state[title][torch.from_numpy(order)]
    twin.load_state_dict(state)
    model.eval()
    twin.eval()
    torch.testing.assert_close(twin(moved_inputs), model(inputs)[torch.from_numpy(order)])


@EVERY_MODEL
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(name):
    graph = make_graph()
    labels = torch.from_numpy(graph.labels.copy())
    first, second, other = (train(*build(name, graph, seed=seed), labels, 5) for seed in (3, 3, 4))
    assert first == second
    assert first != other


@EVERY_MODEL
def test_dropout_acts_in_training_and_never_in_evaluation(name):
    model, inputs = build(name, make_graph())
    assert not torch.equal(model(inputs), model(inputs))
    model.eval()
    assert torch.equal(model(inputs), model(inputs))


@EVERY_MODEL
def test_state_dict_makes_the_round_trip(name):
    graph = make_graph()
    model, inputs = build(name, graph)
    twin, _ = build(name, graph, seed=9)
    model.eval()
    twin.eval()
    assert not torch.equal(model(inputs), twin(inputs))
    twin.load_state_dict(model.state_dict())
    assert torch.equal(model(inputs), twin(inputs))


@EVERY_MODEL
def test_a_graph_without_edges_gives_finite_outputs(name):
    graph = make_graph().replace(adjacency=sp.csr_array((N, N), dtype=float))
    model, inputs = build(name, graph)
    assert torch.isfinite(model(inputs)).all()


@EVERY_MODEL
def test_a_replica_alone_equals_the_replica_among_others(name):
    graph = make_graph()
    spec = small(name)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    make = partial(spec.build, num_nodes=N, num_features=F, num_classes=C)
    place = np.arange(N)
    split = Split(train=place < 12, validation=(place >= 12) & (place < 18), test=place >= 18)
    replicas = [Replica(make, split, TrainConfig(max_epochs=4), seed) for seed in (5, 6)]
    among = fit_replicas(replicas, inputs, graph.labels, workers=1).by_replica[1]
    alone = fit_replicas(replicas[1:], inputs, graph.labels, workers=1).by_replica[0]
    np.testing.assert_array_equal(among.history.train_loss, alone.history.train_loss)
    np.testing.assert_array_equal(among.predictions, alone.predictions)


@EVERY_MODEL
def test_a_pickled_copy_answers_the_same(name):
    graph = make_graph()
    model, inputs = build(name, graph)
    model.eval()
    twin = pickle.loads(pickle.dumps(model))
    assert torch.equal(model(inputs), twin(inputs))
