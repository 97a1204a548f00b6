from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from web.conftest import Live

from heterophily.metrics.catalog import LINEAR, compute_metrics
from heterophily.web.playground import MODELS, Sliders, picture, synthetic_graph


def test_the_picture_holds_each_edge_once_and_its_homophily_is_that_of_the_slider() -> None:
    sliders = Sliders(homophily=0.3, nodes=200, classes=4, degree=6)
    found = picture(synthetic_graph(sliders))
    labels, edges = np.array(found["labels"]), np.array(found["edges"])
    assert len(labels) == 200
    assert edges.shape == (600, 2)
    assert len({(a, b) for a, b in found["edges"]} | {(b, a) for a, b in found["edges"]}) == 1200
    assert (labels[edges[:, 0]] == labels[edges[:, 1]]).mean() == pytest.approx(0.3)
    assert found["metrics"]["edge_homophily"] == pytest.approx(0.3)


def test_along_a_sweep_only_the_edges_change() -> None:
    one, other = (synthetic_graph(Sliders(), homophily=h) for h in (0.1, 0.9))
    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert (one.adjacency != other.adjacency).nnz > 0


def test_noise_is_the_standard_deviation_of_the_features_around_their_class() -> None:
    graph = synthetic_graph(Sliders(noise=3.0, nodes=600, classes=2))
    features = np.asarray(graph.features)
    spreads = [features[graph.labels == label].std(axis=0).mean() for label in (0, 1)]
    np.testing.assert_allclose(spreads, 3.0, rtol=0.05)


@pytest.mark.parametrize(
    "values",
    [{"homophily": 1.5}, {"classes": 1}, {"classes": 2.5}, {"nodes": "200"}, {"other": 1}],
)
def test_sliders_refuse_what_they_cannot_say(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Sliders(**values)  # type: ignore[arg-type]


def test_the_server_gives_all_metrics_and_the_same_values(live: Live) -> None:
    answer = live.post("/api/playground/graph", json={"homophily": 0.4, "seed": 3})
    expected = compute_metrics(synthetic_graph(Sliders(homophily=0.4, seed=3))).values
    assert answer.status_code == 200
    assert answer.json()["metrics"] == pytest.approx(expected)
    assert set(expected) == set(LINEAR)


def test_settings_that_allow_no_such_graph_get_the_sentence_of_the_generator(live: Live) -> None:
    impossible = {"homophily": 1.0, "nodes": 60, "classes": 8, "degree": 20}
    for path, body in (
        ("graph", impossible),
        ("training", {"sliders": impossible, "homophilies": [1.0]}),
    ):
        answer = live.post(f"/api/playground/{path}", json=body)
        assert answer.status_code == 400
        assert "edges within classes, but" in answer.json()["error"]


def test_training_tells_one_accuracy_per_model_and_homophily(live: Live) -> None:
    asked = {"sliders": {"nodes": 60, "classes": 2, "degree": 4}, "homophilies": [0.0, 1.0]}
    started = live.post("/api/playground/training", json=asked)
    assert started.status_code == 202
    events = live.events(started.json()["id"])
    told = [data for event, data in events if event == "accuracy"]
    assert [(point["homophily"], point["model"]) for point in told] == [
        (homophily, model) for homophily in (0.0, 1.0) for model in MODELS
    ]
    assert all(0 <= point["mean"] <= 1 for point in told)
    assert told[0]["metrics"]["edge_homophily"] == 0.0
    own = [point["mean"] for point in told if point["model"] == "mlp-2"]
    assert own[0] == own[1]  # it sees no edges
