"""The same questions to every model of MODELS that fits itself instead of taking gradient steps."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from safetensors.torch import load, save

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.learning.learner import Learner
from heterophily.models.catalog import MODELS
from heterophily.runs.engines import engine_for
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas

N, C = 90, 3
CONFIG = TrainConfig(max_epochs=15)
LEARNERS = [name for name, spec in MODELS.items() if issubclass(spec.network, Learner)]
EVERY_LEARNER = pytest.mark.parametrize("name", LEARNERS)


def make_graph(seed=0) -> Graph:
    """Return a graph whose classes show in features and in edges."""
    rng = np.random.default_rng(seed)
    labels = np.arange(N) % C
    source = rng.integers(0, N, 200)
    target = (source + C * rng.integers(1, N // C, 200)) % N
    features = rng.normal(size=(N, 4)) + 2.0 * np.eye(C, 4)[labels]
    return Graph.from_edges(source, target, features=features, labels=labels, num_nodes=N)


def make_split() -> Split:
    part = np.random.default_rng(1).permutation(N) % 3
    return Split(train=part == 0, validation=part == 1, test=part == 2)


def taught(name, graph=None, *, seed=0, labels=None, config=CONFIG):
    graph = make_graph() if graph is None else graph
    spec = MODELS[name]
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=C)
    labels = graph.labels if labels is None else labels
    return build, inputs, fit(build, inputs, labels, make_split(), config, seed=seed)


@EVERY_LEARNER
def test_it_is_better_than_chance_and_the_result_is_whole(name):
    _, _, result = taught(name)
    assert result.test_accuracy > 0.5
    assert result.logits.shape == (N, C)
    assert result.logits.dtype == np.float32
    assert np.isfinite(result.logits).all()
    assert 1 <= result.best_epoch <= result.epochs == len(result.history)
    assert result.validation_loss == result.history.validation_loss[result.best_epoch - 1]
    right = (result.predictions == make_graph().labels)[make_split().validation]
    assert result.validation_accuracy == pytest.approx(right.mean())


@EVERY_LEARNER
def test_labels_of_test_nodes_are_never_read(name):
    graph, split = make_graph(), make_split()
    scrambled = np.where(split.test, (graph.labels + 1) % C, graph.labels)
    _, _, plain = taught(name)
    _, _, other = taught(name, labels=scrambled)
    np.testing.assert_array_equal(plain.logits, other.logits)


@EVERY_LEARNER
def test_a_loaded_and_a_pickled_state_answer_the_same(name):
    build, inputs, result = taught(name)
    twin = build()
    twin.load_state_dict(load(save(dict(result.state))))
    twin.eval()
    with torch.no_grad():
        np.testing.assert_array_equal(twin(inputs).float().numpy(), result.logits)
        copy = pickle.loads(pickle.dumps(twin))
        np.testing.assert_array_equal(copy(inputs).float().numpy(), result.logits)


@EVERY_LEARNER
def test_a_replica_alone_equals_the_replica_among_others(name):
    graph = make_graph()
    build, inputs, alone = taught(name, seed=6)
    replicas = [Replica(build, make_split(), CONFIG, seed) for seed in (5, 6)]
    among = fit_replicas(replicas, inputs, graph.labels, workers=1)
    np.testing.assert_array_equal(among.by_replica[1].logits, alone.logits)


@EVERY_LEARNER
def test_the_native_engine_is_refused_with_the_reason(name):
    assert engine_for(MODELS[name], "auto") == ("torch", "")
    with pytest.raises(InputError, match="engine='native'"):
        engine_for(MODELS[name], "native")


@EVERY_LEARNER
def test_a_graph_without_edges_gives_finite_outputs(name):
    graph = make_graph().replace(adjacency=sp.csr_array((N, N), dtype=float))
    assert np.isfinite(taught(name, graph)[2].logits).all()


@EVERY_LEARNER
def test_sparse_features_are_read(name):
    graph = make_graph()
    sparse = graph.replace(features=sp.csr_array(np.where(graph.features > 2, graph.features, 0)))
    assert np.isfinite(taught(name, sparse)[2].logits).all()


@EVERY_LEARNER
def test_class_weights_are_heeded_or_change_nothing_and_the_state_can_be_left_out(name):
    result = taught(name, config=replace(CONFIG, class_weight=(0.0, 1.0, 1.0)))[2]
    assert np.isfinite(result.logits).all()
    graph, spec = make_graph(), MODELS[name]
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=C)
    bare = fit(build, inputs, graph.labels, make_split(), CONFIG, seed=0, keep_state=False)
    assert bare.state is None
    assert bare.logits is None


@EVERY_LEARNER
def test_before_it_learns_every_class_is_alike(name):
    build, inputs, _ = taught(name)
    with torch.no_grad():
        logits = build().eval()(inputs)
    assert logits.shape == (N, C)
    assert torch.isfinite(logits).all()
