from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dense_models import random_walk, small_graph

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, random_splits
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.tree_columns import (
    column_names,
    columns_of,
    telling_features,
    variance_between,
)
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit

BLOCKS = ("own", "low", "high", "low-2", "degree")


def test_nodes_that_deal_with_hubs_are_told_from_those_that_do_not():
    """A star of three leaves, a pair, and a node alone."""
    graph = Graph.from_edges(
        [0, 0, 0, 4], [1, 2, 3, 5], features=np.ones((7, 1)), labels=[0, 1, 0, 1, 0, 1, 0]
    )
    inputs = GraphInputs.from_graph(graph, MODELS["trees-channels"].inputs)
    found = columns_of(inputs, ["neighbour-degree"])
    three, one = np.log(4), np.log(2)
    np.testing.assert_allclose(found.ravel(), [one, three, three, three, one, one, 0], rtol=1e-6)
    assert column_names([0], ["neighbour-degree"]) == [("neighbour-degree", None)]


@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_channels_are_those_of_acm(is_sparse):
    graph = small_graph(is_sparse=is_sparse)
    inputs = GraphInputs.from_graph(graph, MODELS["trees-channels"].inputs, dtype=torch.float64)
    found = columns_of(inputs, BLOCKS)
    found = found.toarray() if sp.issparse(found) else found
    x = graph.features.toarray() if is_sparse else graph.features
    a = graph.adjacency.toarray()
    low = random_walk(torch.from_numpy(a + np.eye(len(a)))).numpy()
    wanted = np.hstack([x, low @ x, x - low @ x, low @ low @ x, a.sum(1, keepdims=True)])
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert len(column_names(range(graph.num_features), BLOCKS)) == wanted.shape[1]
    assert column_names([0, 4], ("low", "degree")) == [("low", 0), ("low", 4), ("degree", None)]


def neighbours_decide() -> tuple[Graph, Split]:
    """Return a graph of pairs: a node's class is the sign of its partner's second feature."""
    rng = np.random.default_rng(0)
    n = 400
    features = rng.normal(size=(n, 3))
    partner = np.arange(n) ^ 1
    labels = (features[partner, 1] > 0).astype(np.int64)
    graph = Graph.from_edges(
        np.arange(0, n, 2), np.arange(1, n, 2), features=features, labels=labels
    )
    part = rng.permutation(n) % 4
    return graph, Split(train=part < 2, validation=part == 2, test=part == 3)


def trained(name, **options):
    graph, split = neighbours_decide()
    spec = MODELS[name].with_options(**options)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=2)
    result = fit(build, inputs, graph.labels, split, TrainConfig(), seed=0)
    model = build()
    model.load_state_dict(result.state)
    return model, result


def test_what_neighbours_know_is_learnt_from_channels_and_not_from_own_features():
    assert trained("trees")[1].test_accuracy < 0.65
    assert trained("trees-channels")[1].test_accuracy > 0.85


def test_gains_name_the_columns_that_decide_and_add_up_to_one():
    model, _ = trained("trees-channels")
    gains = model.gains()
    assert sum(gains.values()) == pytest.approx(1.0)
    by_feature = np.bincount([f for _, f in gains if f is not None], minlength=3)
    assert by_feature.min() > 0
    assert sum(gain for (_, feature), gain in gains.items() if feature == 1) > 0.6


def test_training_stops_when_validation_no_longer_gains_and_keeps_the_best_round():
    _, result = trained("trees-channels", patience=5)
    assert result.epochs < 500
    losses = result.history.validation_loss
    assert result.best_epoch == int(losses.argmin()) + 1
    assert result.validation_loss == losses.min()


def test_the_configuration_bounds_the_number_of_rounds():
    graph, split = neighbours_decide()
    spec = MODELS["trees"]
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=2)
    assert fit(build, inputs, graph.labels, split, TrainConfig(max_epochs=3), seed=0).epochs == 3


def test_training_nodes_of_one_class_give_that_class():
    graph, split = neighbours_decide()
    labels = np.where(split.train, 1, graph.labels)
    spec = MODELS["trees"]
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    result = fit(spec.builder(inputs, num_classes=2), inputs, labels, split, TrainConfig(), seed=0)
    assert set(result.predictions) == {1}
    assert np.isfinite(result.validation_loss)


def test_damaged_trees_are_one_sentence():
    model, _ = trained("trees", rounds=5)
    model.booster = model.booster[: len(model.booster) // 2]
    with pytest.raises(InputError, match="the saved trees cannot be read; train again"):
        model.gains()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ("mine",)}, "columns='mine'; choose one of own, low, high"),
        ({"rounds": 0}, "rounds=0"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"column_share": 1.5}, "column_share=1.5"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        MODELS["trees"].with_options(**options)


def test_of_many_features_those_that_tell_the_classes_apart_are_kept():
    """Feature 1 tells by the partner, the others not at all; own values and means both count."""
    graph, split = neighbours_decide()
    inputs = GraphInputs.from_graph(graph, MODELS["trees"].inputs)
    labels = np.where(split.train, graph.labels, -1)
    assert telling_features(inputs, labels, 1).tolist() == [1]
    assert telling_features(inputs, labels, 3).tolist() == [0, 1, 2]
    model, result = trained("trees-channels", most_features=1)
    assert model.kept.tolist() == [1]
    assert {feature for _, feature in model.gains()} <= {1, None}
    assert result.test_accuracy > 0.85


@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_variance_between_classes_is_that_of_numpy(is_sparse):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.5), rng.integers(0, 3, 30)
    means = np.stack([rows[labels == c].mean(0) for c in range(3)])[labels]
    wanted = ((means - rows.mean(0)) ** 2).sum(0) / ((rows - rows.mean(0)) ** 2).sum(0)
    given = sp.csr_array(rows) if is_sparse else rows
    np.testing.assert_allclose(variance_between(given, labels), wanted)


def test_degrees_without_the_adjacency_are_refused():
    inputs = GraphInputs.from_graph(small_graph())
    with pytest.raises(InputError, match="with_structure=True"):
        columns_of(inputs, ["degree"])


def neighbours_labels_decide() -> tuple[Graph, Split]:
    """Return a bipartite graph: a node's class is one more than that of all its neighbours."""
    rng = np.random.default_rng(0)
    n = 600
    labels = np.arange(n) % 3
    source = rng.integers(0, n, 3000)
    target = 3 * rng.integers(0, n // 3, 3000) + (labels[source] + 1) % 3
    graph = Graph.from_edges(
        source, target, features=rng.normal(size=(n, 2)), labels=labels, direction="keep"
    )
    part = rng.permutation(n) % 4
    return graph, Split(train=part < 2, validation=part == 2, test=part == 3)


def test_labels_of_neighbours_are_learnt_where_features_tell_nothing():
    graph, split = neighbours_labels_decide()
    found = {}
    for name in ("trees-channels", "trees-labels"):
        inputs = GraphInputs.from_graph(graph, MODELS[name].inputs)
        build = MODELS[name].builder(inputs, num_classes=3)
        found[name] = fit(build, inputs, graph.labels, split, TrainConfig(), seed=0)
    assert found["trees-channels"].test_accuracy < 0.5
    assert found["trees-labels"].test_accuracy > 0.9


def test_random_labels_are_not_learnt_from_themselves():
    """Two nodes that are each other's only neighbours see each other's label, never their own."""
    graph, split = neighbours_decide()
    labels = np.random.default_rng(3).integers(0, 2, graph.num_nodes)
    inputs = GraphInputs.from_graph(graph, MODELS["trees-labels"].inputs)
    build = MODELS["trees-labels"].builder(inputs, num_classes=2)
    result = fit(build, inputs, labels, split, TrainConfig(), seed=0)
    model = build()
    model.load_state_dict(result.state)
    node = int(np.flatnonzero(split.train)[0])
    before = model.table(inputs)[node]
    model.labels[node] = 1 - model.labels[node]
    columns = slice(4 * graph.num_features + 1, None)
    after = model.table(inputs)[node]
    sizes = np.bincount(model.labels[model.labels >= 0].numpy())
    np.testing.assert_allclose(before[columns], after[columns], atol=2.0 / sizes.sum())


def test_labels_bind_the_trees_to_the_graph_of_the_training():
    graph, split = neighbours_decide()
    spec = MODELS["trees-labels"]
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=2)
    result = fit(build, inputs, graph.labels, split, TrainConfig(max_epochs=2), seed=0)
    model = build()
    model.load_state_dict(result.state)
    other = Graph.from_edges([0], [1], features=np.eye(2, 3), labels=[0, 1])
    with pytest.raises(InputError, match="trained on 400 nodes and the graph has 2"):
        model(GraphInputs.from_graph(other, spec.inputs))


def test_labels_along_each_type_of_edges_tell_what_all_edges_together_hide():
    """Edges of one type join a class, those of the other two different ones; both alike many."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    ends = [rng.permutation(np.flatnonzero(labels == k)) for k in (0, 1)]
    few = min(part.size for part in ends) // 2 * 2
    first, second = ends[0][:few], ends[1][:few]
    alike = [(part[:-1], part[1:]) for part in (first, second)]
    graph = Graph.from_edges(
        np.concatenate([*(a for a, _ in alike), first, first]),
        np.concatenate([*(b for _, b in alike), second, np.roll(second, 1)]),
        labels=labels,
        features=rng.normal(0, 1, (400, 2)),
        edge_type=np.repeat(["same", "other"], [2 * (few - 1), 2 * few]),
    )
    split = random_splits(labels, repeats=1, seed=0)[0]
    found = {}
    for name in ("trees-labels", "typed-trees"):
        spec = MODELS[name].on(graph)
        inputs = GraphInputs.from_graph(graph, spec.inputs)
        before = inputs.operator.matrix.to_scipy().copy()
        build = spec.builder(inputs, num_classes=2)
        found[name] = fit(build, inputs, labels, split, TrainConfig(max_epochs=30), seed=0)
        assert (before != inputs.operator.matrix.to_scipy()).nnz == 0
    assert found["typed-trees"].test_accuracy > found["trees-labels"].test_accuracy + 0.1
    model = build()
    model.load_state_dict(found["typed-trees"].state)
    assert sum(model.gains().values()) == pytest.approx(1.0)
    assert next(iter(model.gains()))[0] in ("labels", "labels-2")
