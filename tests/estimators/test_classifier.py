"""AcmClassifier is a scikit-learn estimator, and a graph is more than rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UnknownNameError
from heterophily.estimators.classifier import AcmClassifier
from heterophily.estimators.folds import GraphKFold
from heterophily.models.catalog import MODELS
from heterophily.models.pyg_adapter import pyg_model
from heterophily.prediction.folder import load_model, save_model
from heterophily.prediction.predict import predict

NODES = 60


def quick(model="acm-gcn", **changes) -> AcmClassifier:
    chosen = {"hidden": 8, "max_epochs": 40, "window": 20, "dropout": 0.0, **changes}
    return AcmClassifier(model, **chosen)


@parametrize_with_checks([quick(hidden=16, max_epochs=100, row_normalize=False)])
def test_scikit_learn_accepts_the_estimator(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Two classes; neighbours are of the other class, and features carry noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(NODES) % 2
    source = np.repeat(np.arange(NODES), 3)
    target = 2 * rng.integers(0, NODES // 2, source.size) + 1 - labels[source]
    features = rng.normal(size=(NODES, 6))
    features[:, 0] += 2.0 * labels
    return Graph.from_edges(source, target, features=features, labels=labels)


def half(graph: Graph) -> np.ndarray:
    return np.arange(graph.num_nodes) < graph.num_nodes // 2


# --- the four forms of X ------------------------------------------------------------------------


def test_all_forms_of_the_same_graph_give_the_same_probabilities(graph: Graph) -> None:
    features, labels = graph.features, graph.labels
    edges = np.stack(graph.adjacency.nonzero())
    expected = quick(engine="torch").fit(graph).predict_proba(graph)
    nodes = np.arange(NODES)
    by_number = quick(graph=graph, engine="torch").fit(nodes, labels)
    assert_array_equal(by_number.predict_proba(nodes), expected)
    assert_array_equal(by_number.predict_proba(nodes[:, None]), expected)
    for adjacency in (graph.adjacency, sp.coo_matrix(graph.adjacency), edges, torch.tensor(edges)):
        fitted = quick(engine="torch").fit(features, labels, adjacency=adjacency)
        assert_array_equal(fitted.predict_proba(features, adjacency=adjacency), expected)


def test_labels_of_held_out_nodes_are_never_read(graph: Graph) -> None:
    train, labels = half(graph), graph.labels.copy()
    before = quick().fit(graph, labels, train_mask=train).predict_proba(graph)
    labels[~train] = 1 - labels[~train]
    assert_array_equal(quick().fit(graph, labels, train_mask=train).predict_proba(graph), before)
    labels[~train] = -1
    assert_array_equal(quick().fit(graph, labels).predict_proba(graph), before)
    nodes = np.flatnonzero(train)
    by_number = quick(graph=graph).fit(nodes, labels[nodes])
    assert_array_equal(by_number.predict_proba(np.arange(NODES)), before)


def test_edges_help_where_features_alone_do_not(graph: Graph) -> None:
    lonely = graph.replace(features=np.random.default_rng(1).normal(size=(NODES, 4)))
    labels, train = graph.labels, half(graph)
    model = quick(max_epochs=200, options={"with_structure": True})
    with_edges = model.fit(lonely, train_mask=train).score(lonely, mask=~train)
    edgeless = Graph.from_edges([], [], features=lonely.features, labels=labels)
    without = quick(max_epochs=200).fit(edgeless, train_mask=train).score(edgeless, mask=~train)
    assert with_edges > without + 0.2


def test_without_edges_the_label_minus_one_is_a_class() -> None:
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    assert_array_equal(quick().fit(X, [-1, -1, 1, 1]).classes_, [-1, 1])


def test_names_are_labels(graph: Graph) -> None:
    names = np.array(["left", "right"])[graph.labels]
    classifier = quick().fit(graph, names)
    assert_array_equal(classifier.classes_, ["left", "right"])
    assert set(classifier.predict(graph)) <= {"left", "right"}
    assert classifier.score(graph, names) == np.mean(classifier.predict(graph) == names)


@pytest.mark.parametrize(
    ("names", "missing"), [([0, 1], -1), ([0.0, 1.0], np.nan), (["left", "right"], None)]
)
def test_unlabelled_is_minus_one_nan_or_none(graph: Graph, names: list, missing: object) -> None:
    labels = np.array([*names, missing])[np.where(np.arange(NODES) < 10, graph.labels, 2)]
    assert quick(max_epochs=2).fit(graph, labels).classes_.tolist() == names


def test_after_a_graph_node_numbers_ask_about_it(graph: Graph) -> None:
    classifier = quick(max_epochs=5).fit(graph)
    assert_array_equal(classifier.predict([3, 1]), classifier.predict(graph)[[3, 1]])


def test_unlabelled_nodes_do_not_count_in_the_score(graph: Graph) -> None:
    classifier = quick().fit(graph)
    labels = classifier.predict(graph)
    labels[:10] = -1
    assert classifier.score(graph, labels) == 1.0
    assert classifier.score(graph, 1 - classifier.predict(graph)) == 0.0


# --- scikit-learn's machinery -------------------------------------------------------------------


def test_cross_validation_trains_on_the_fold_and_sees_the_whole_graph(graph: Graph) -> None:
    labels = graph.labels.copy()
    labels[::7] = -1
    folds, nodes = GraphKFold(3), np.arange(NODES)
    scores = cross_val_score(quick(graph=graph), nodes, labels, cv=folds)
    expected = []
    for train, test in folds.split(nodes, labels):
        mask = np.isin(nodes, train)
        expected.append(quick().fit(graph, train_mask=mask).score(graph, mask=np.isin(nodes, test)))
    assert_array_equal(scores, expected)


def test_grid_search_chooses_and_refits(graph: Graph) -> None:
    search = GridSearchCV(
        quick(graph=graph), {"model": ["mlp-2", "acm-gcn"], "hidden": [2, 8]}, cv=GraphKFold(2)
    ).fit(np.arange(NODES), graph.labels)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.predict(np.array([3, 1])).shape == (2,)
    assert search.best_estimator_.graph.content_hash == graph.content_hash


def test_scorers_that_need_probabilities_work(graph: Graph) -> None:
    nodes = np.arange(NODES)
    scores = cross_val_score(
        quick(graph=graph), nodes, graph.labels, cv=GraphKFold(2), scoring="roc_auc"
    )
    assert ((scores >= 0) & (scores <= 1)).all()
    found = cross_val_predict(quick(graph=graph), nodes, graph.labels, cv=3, method="predict_proba")
    assert found.shape == (NODES, 2)


def test_features_pass_a_pipeline_with_their_edges(graph: Graph) -> None:
    pipeline = make_pipeline(StandardScaler(), quick(row_normalize=False))
    A, X = graph.adjacency, np.asarray(graph.features)
    pipeline.fit(X, graph.labels, acmclassifier__adjacency=A)
    scaled = StandardScaler().fit_transform(X)
    alone = quick(row_normalize=False).fit(scaled, graph.labels, adjacency=A)
    assert_array_equal(pipeline.predict(X, adjacency=A), alone.predict(scaled, adjacency=A))


def test_clone_and_pickle_keep_parameters_and_predictions(graph: Graph) -> None:
    classifier = quick("acmii-gcn", lr=0.02, options={"depth": 3}).fit(graph)
    assert clone(classifier).get_params() == classifier.get_params()
    assert clone(classifier).set_params(lr=0.5).lr == 0.5
    with pytest.raises(NotFittedError):
        clone(classifier).predict(graph)
    again = pickle.loads(pickle.dumps(classifier))
    assert_array_equal(again.predict_proba(graph), classifier.predict_proba(graph))


def test_the_seed_decides_and_nothing_else(graph: Graph) -> None:
    first = quick(dropout=0.5).fit(graph).predict_proba(graph)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    assert_array_equal(quick(dropout=0.5).fit(graph).predict_proba(graph), first)
    other = quick(dropout=0.5, random_state=1).fit(graph).predict_proba(graph)
    assert not np.array_equal(other, first)


def test_the_seed_draws_the_weights(graph: Graph) -> None:
    sets = {"train_mask": half(graph), "validation_mask": ~half(graph)}
    first, other = (quick(max_epochs=1, random_state=seed).fit(graph, **sets) for seed in (0, 1))
    assert np.abs(first.predict_proba(graph) - other.predict_proba(graph)).max() > 1e-3


# --- what is learned ----------------------------------------------------------------------------


def test_channel_weights_are_shares_of_each_node(graph: Graph) -> None:
    classifier = quick("acm-gcn+").fit(graph)
    assert classifier.channel_names_ == ("low", "high", "identity", "structure")
    assert classifier.channel_weights_.shape == (NODES, 4)
    np.testing.assert_allclose(classifier.channel_weights_.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("model", ["gcn", "gat"])
def test_models_without_mixing_have_no_channel_weights(graph: Graph, model: str) -> None:
    classifier = quick(model, max_epochs=2).fit(graph)
    assert not hasattr(classifier, "channel_weights_")
    with pytest.raises(AttributeError, match=f"{model} has no adaptive mixing"):
        _ = classifier.channel_weights_


@pytest.mark.parametrize("model", [name for name in MODELS if "[" not in name])
def test_every_model_fits_and_gives_probabilities(graph: Graph, model: str) -> None:
    found = AcmClassifier(model, max_epochs=1).fit(graph).predict_proba(graph)
    assert found.shape == (NODES, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_balanced_classes_find_more_of_the_rare_class() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(300) % 10 == 0).astype(int)
    X = rng.normal(size=(300, 2)) + y[:, None]
    found = {
        weight: quick(row_normalize=False, class_weight=weight, max_epochs=200).fit(X, y).predict(X)
        for weight in (None, "balanced")
    }
    assert found["balanced"][y == 1].mean() > found[None][y == 1].mean() + 0.3


def test_own_modules_are_models(graph: Graph) -> None:
    class OneMap(torch.nn.Module):
        def __init__(self, num_features: int, num_classes: int) -> None:
            super().__init__()
            self.map = torch.nn.Linear(num_features, num_classes)

        def forward(self, x, edge_index):
            return self.map(x)

    model = quick(pyg_model(OneMap), hidden=None, dropout=None)
    assert model.fit(graph).predict_proba(graph).shape == (NODES, 2)


def test_what_was_trained_can_be_saved(graph: Graph, tmp_path) -> None:
    classifier = quick().fit(graph)
    again = load_model(save_model(tmp_path / "model", classifier.trained_))
    assert_array_equal(predict(again, graph).probabilities, classifier.predict_proba(graph))


# --- other graphs -------------------------------------------------------------------------------


def larger(graph: Graph) -> Graph:
    """The graph with two more nodes that nothing is connected to."""
    edges = graph.adjacency.nonzero()
    features = np.vstack([graph.features, np.ones((2, graph.num_features))])
    return Graph.from_edges(*edges, features=features, num_nodes=graph.num_nodes + 2)


def test_new_nodes_are_classified_and_old_ones_keep_their_answer(graph: Graph) -> None:
    classifier = quick().fit(graph)
    found = classifier.predict_proba(larger(graph))
    np.testing.assert_allclose(found[:NODES], classifier.predict_proba(graph), atol=1e-6)
    assert found.shape == (NODES + 2, 2)


def test_node_weights_refuse_other_nodes_with_the_reason(graph: Graph) -> None:
    classifier = quick("acm-gcn+").fit(graph)
    with pytest.raises(InputError, match="bound to the 60 nodes"):
        classifier.predict(larger(graph))
    lonely = graph.replace(features=None)
    with pytest.raises(InputError, match="no features"):
        quick().fit(lonely).predict(larger(graph).replace(features=None))


# --- bad input ----------------------------------------------------------------------------------


def test_unknown_names_are_refused_with_the_nearest(graph: Graph) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'acm-gcn'"):
        quick("acm-gnc").fit(graph)
    with pytest.raises(UnknownNameError, match="unknown engine"):
        quick(engine="turbo").fit(graph)
    with pytest.raises(InputError, match="unknown option 'depht'"):
        quick(options={"depht": 3}).fit(graph)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, g: c.fit(g, g.labels[:5]), r"y has shape \(5,\)"),
        (lambda c, g: c.fit(g, adjacency=g.adjacency), "a graph has edges of its own"),
        (lambda c, g: c.fit(g, np.zeros(NODES, int)), "are of one class"),
        (lambda c, g: c.fit(g, train_mask=[1, 2]), "train_mask is int64"),
        (lambda c, g: c.fit(g, train_mask=half(g), validation_mask=half(g)), "node 0 is in both"),
        (lambda c, g: c.fit(g, validation_mask=np.ones(NODES, bool)), "left for training"),
        (lambda c, g: c.fit(g, np.where(half(g), g.labels, -1), train_mask=~half(g)), "node 30 is"),
        (lambda c, g: c.set_params(validation_fraction=1.5).fit(g), "validation_fraction=1.5"),
        (lambda c, g: c.set_params(lr=-1).fit(g), "lr=-1"),
        (lambda c, g: c.fit(np.eye(3), [0, 1, 0], adjacency=np.eye(3)), "SciPy sparse matrix"),
        (lambda c, g: c.fit(np.eye(3), [0, 1, 0], adjacency=g.adjacency), "expected \\(3, 3\\)"),
        (lambda c, g: c.set_params(graph=g).fit([0, 60], [0, 1]), "X names node 60"),
        (lambda c, g: c.set_params(graph=g).fit([1, 1], [0, 1]), "X names node 1 twice"),
        (lambda c, g: c.set_params(graph=g).fit(np.eye(3), [0, 1, 0]), "takes node numbers"),
        (lambda c, g: c.set_params(graph=g).fit([0, 1], [0]), "one per node number"),
        (lambda c, g: c.fit(g).score(g, g.labels[:3]), "y has shape"),
        (lambda c, g: c.fit(g).score(g, mask=[0, 1]), "mask is int64"),
        (lambda c, g: c.fit(g).score(g, np.full(NODES, -1)), "no labelled node"),
        (
            lambda c, g: c.fit(g).predict(g.replace(features=np.eye(NODES)[:, :3])),
            "3 feature columns",
        ),
        (
            lambda c, g: c.fit(g.features, g.labels, adjacency=g.adjacency).predict(g.features),
            "pass adjacency",
        ),
    ],
)
def test_bad_input_is_one_sentence(graph: Graph, call, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call(quick(max_epochs=2), graph)
    assert "\n" not in str(caught.value)


def test_numbers_that_are_no_classes_are_refused(graph: Graph) -> None:
    with pytest.raises(ValueError, match="continuous"):
        quick().fit(graph, np.linspace(0.1, 0.9, NODES))


def _ring() -> Graph:
    nodes = np.arange(40)
    features = np.random.default_rng(0).normal(size=(40, 3)) + (nodes % 2)[:, None]
    return Graph.from_edges(nodes, (nodes + 1) % 40, labels=nodes % 2, features=features)


@pytest.mark.parametrize("engine", ["auto", "torch"])
def test_class_weights_may_be_a_dict_by_class(engine: str) -> None:
    graph = _ring()
    words = np.array(["ant", "bee"])[graph.labels]
    # mlp-1 has no bias: where columns are centred, a weight could not move all nodes.
    kind = {"features": "counts"}
    options = {"max_epochs": 40, "random_state": 0, "engine": engine, "options": kind}
    plain = AcmClassifier("mlp-1", **options).fit(graph, words)
    even = AcmClassifier("mlp-1", class_weight={"ant": 1, "bee": 1}, **options).fit(graph, words)
    bees = AcmClassifier("mlp-1", class_weight={"bee": 50}, **options).fit(graph, words)
    assert np.abs(even.predict_proba(graph) - plain.predict_proba(graph)).max() < 0.05
    assert bees.predict_proba(graph)[:, 1].mean() > plain.predict_proba(graph)[:, 1].mean() + 0.04
    assert AcmClassifier("mlp-1", class_weight={0: 1, 1: 2}, **options).fit(graph)
    for wrong in ({"cow": 1}, {"ant": -1}, {"ant": np.nan}, {"ant": 0, "bee": 0}, [1, 2]):
        with pytest.raises(InputError, match="class_weight"):
            AcmClassifier("mlp-1", class_weight=wrong, **options).fit(graph, words)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_nan_and_none_are_unlabelled_among_words_and_numbers(missing: float | None) -> None:
    graph = _ring()
    words = np.array(["ant", "bee"])[graph.labels]
    hidden = np.arange(40) % 5 == 0
    wanted = AcmClassifier("mlp-1", max_epochs=5, random_state=0)
    wanted.fit(graph, train_mask=~hidden & (np.arange(40) > 8), validation_mask=np.arange(40) < 9)
    for given in (words, graph.labels, graph.labels.astype(float)):
        y = [missing if gone else label for gone, label in zip(hidden, given, strict=True)]
        for kind in (list, lambda values: np.array(values, dtype=object)):
            model = AcmClassifier("mlp-1", max_epochs=5, random_state=0).fit(graph, kind(y))
            assert model.classes_.size == 2
            assert 0 <= model.score(graph, kind(y)) <= 1
            rows = AcmClassifier("mlp-1", max_epochs=5, random_state=0)
            rows.fit(graph.features, kind(y), adjacency=graph.adjacency)
            assert rows.classes_.tolist() == model.classes_.tolist()
            some = AcmClassifier("mlp-1", graph=graph, max_epochs=5, random_state=0)
            assert some.fit(np.arange(40), kind(y)).classes_.size == 2
