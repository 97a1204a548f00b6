from __future__ import annotations

import numpy as np
import pytest
import torch

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit

LABELS = np.array([0, 0, 1, 1, 0, 1])
SPLIT = Split(
    train=np.array([1, 0, 0, 1, 0, 0], bool),
    validation=np.array([0, 1, 0, 0, 0, 1], bool),
    test=np.array([0, 0, 1, 0, 1, 0], bool),
)


def path() -> Graph:
    """0 - 1 - 2 - 3, and two nodes without edges; 0 and 3 are training nodes."""
    return Graph.from_edges([0, 1, 2], [1, 2, 3], features=np.eye(6), labels=LABELS, num_nodes=6)


def learnt(name, graph, **options):
    spec = MODELS[name].with_options(**options)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=2)
    return build, fit(build, inputs, LABELS, SPLIT, TrainConfig(max_epochs=5), seed=0)


def test_a_node_gets_the_label_of_the_nearest_training_node():
    _, result = learnt("label-propagation", path())
    assert result.predictions[:4].tolist() == [0, 0, 1, 1]
    assert result.epochs == result.best_epoch == 1
    assert result.validation_accuracy == pytest.approx(
        np.mean(result.predictions[[1, 5]] == [0, 1])
    )


def test_a_node_that_no_label_reaches_has_the_shares_of_the_classes():
    _, result = learnt("label-propagation", path())
    np.testing.assert_allclose(result.probabilities[4:], 0.5, atol=1e-6)


def test_one_step_by_hand():
    """Y1 = 0.5 Â Y0 + 0.5 Y0: node 1 hears of class 0 alone, node 2 of class 1 alone."""
    _, result = learnt("label-propagation", path(), hops=1, alpha=0.5)
    expected = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(result.probabilities[:4], expected, atol=1e-5)


def test_another_graph_is_refused():
    build, result = learnt("label-propagation", path())
    model = build()
    model.load_state_dict(result.state)
    other = Graph.from_edges([0], [1], features=np.eye(2), labels=[0, 1])
    with pytest.raises(InputError, match="nodes and the graph has 2"):
        model(GraphInputs.from_graph(other, MODELS["label-propagation"].inputs))


def test_correct_and_smooth_leaves_an_edgeless_graph_to_its_perceptron_but_for_known_labels():
    graph = path()
    edgeless = graph.replace(adjacency=graph.adjacency * 0)
    build, result = learnt("correct-and-smooth", edgeless)
    model = build()
    model.load_state_dict(result.state)
    model.eval()
    inputs = GraphInputs.from_graph(edgeless, MODELS["correct-and-smooth"].inputs)
    with torch.no_grad():
        own = model.base(inputs).softmax(1).numpy()
    np.testing.assert_allclose(result.probabilities[SPLIT.test], own[SPLIT.test], atol=1e-5)
    np.testing.assert_allclose(result.probabilities[[0, 3]], [[1, 0], [0, 1]], atol=1e-5)


def test_the_history_ends_with_the_smoothed_answer():
    _, result = learnt("correct-and-smooth", path())
    assert result.epochs == 5 + 1 == result.best_epoch


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("label-propagation", {"alpha": 1.5}, "alpha=1.5"),
        ("label-propagation", {"hops": 0}, "hops=0"),
        ("correct-and-smooth", {"scale": -1.0}, "scale=-1.0"),
        ("correct-and-smooth", {"smooth_alpha": 2.0}, "smooth_alpha=2.0"),
    ],
)
def test_bad_options_are_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        MODELS[name].with_options(**options)
