"""The same questions to every metric of the table."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UnknownNameError
from heterophily.metrics.catalog import LINEAR, METRICS, compute_metrics

NO_EDGES = ([], np.zeros(0, int))
FEATURES = np.eye(4)[:, :3]
EDGE_METRICS = (
    "edge_homophily",
    "node_homophily",
    "class_homophily",
    "adjusted_homophily",
    "label_informativeness",
    "unbiased_homophily",
    "two_hop_homophily",
    "effective_homophily",
    "neighbourhood_identifiability",
    "neighbourhood_contrast",
    "structural_homophily",
    "generalized_edge_homophily",
)


def random_graph(seed: int, **options: object) -> Graph:
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 3, 40)
    features = sp.csr_array(rng.poisson(0.3, (40, 10)).astype(float))
    ends = rng.integers(0, 40, (2, 90))
    return Graph.from_edges(*ends, labels=labels, features=features, **options)  # type: ignore[arg-type]


def permuted(graph: Graph, order: np.ndarray) -> Graph:
    return graph.replace(
        adjacency=graph.adjacency[order][:, order],
        features=graph.features[order],  # type: ignore[index]
        labels=graph.labels[order],
    )


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("direction", ["drop", "keep"])
@pytest.mark.parametrize("seed", range(3))
def test_relabelling_the_nodes_changes_nothing(name: str, direction: str, seed: int) -> None:
    graph = random_graph(seed, direction=direction)
    other = permuted(graph, np.random.default_rng(seed).permutation(40))
    assert METRICS[name](other) == pytest.approx(METRICS[name](graph), abs=1e-14)


@pytest.mark.parametrize("name", METRICS)
def test_renaming_the_classes_changes_nothing(name: str) -> None:
    graph = random_graph(4)
    swapped = np.where(graph.is_labelled, np.array([2, 0, 1])[graph.labels], -1)
    other = graph.replace(labels=swapped, class_names=("a", "b", "c"))
    assert METRICS[name](other) == pytest.approx(METRICS[name](graph), abs=1e-14)


@pytest.mark.parametrize("name", METRICS)
def test_values_stay_in_their_range(name: str) -> None:
    low, high = METRICS[name].range
    for seed in range(10):
        value = METRICS[name](random_graph(seed))
        assert type(value) is float
        assert low <= value <= high


@pytest.mark.parametrize("name", EDGE_METRICS)
def test_the_unit_of_the_weights_does_not_matter_to_edge_metrics(name: str) -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 90)
    one, two = (random_graph(1, weight=weight * factor) for factor in (1.0, 1000.0))
    assert METRICS[name](one) == pytest.approx(METRICS[name](two))


@pytest.mark.parametrize("name", EDGE_METRICS)
def test_weights_of_one_are_no_weights(name: str) -> None:
    plain, doubled = random_graph(2), random_graph(2).replace()
    doubled = doubled.replace(adjacency=doubled.adjacency * 2.0)
    assert doubled.is_weighted
    assert METRICS[name](plain) == pytest.approx(METRICS[name](doubled))


# A bad graph, and the metrics that are nevertheless defined on it with their values.
CASES: dict[str, tuple[Graph, dict[str, float]]] = {
    "no labels": (
        Graph.from_edges([0, 1], [1, 2], num_nodes=4, features=FEATURES),
        {"generalized_edge_homophily": 0.0},
    ),
    "one class": (
        Graph.from_edges([0, 1], [1, 2], labels=[0] * 4, features=FEATURES),
        {
            "edge_homophily": 1.0,
            "node_homophily": 1.0,
            "two_hop_homophily": 1.0,
            "effective_homophily": 1.0,
            "generalized_edge_homophily": 0.0,
            "feature_homophily": -7 * math.sqrt(2) / 18,  # columns: -√2/3, -√2/2, -√2/3
        },
    ),
    "a class with one node": (
        Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 0, 1], features=FEATURES),
        {
            "edge_homophily": 2 / 3,
            "node_homophily": 5 / 8,
            "class_homophily": 1 / 20,
            "adjusted_homophily": -1 / 5,
            "label_informativeness": 0.07448308596203683,
            "aggregation_homophily": 1.0,
            "modified_aggregation_homophily": 1.0,
            "aggregation_similarity": 1.0,
            "feature_similarity": 1.0,
            "diversification_distinguishability": 0.75,
            "feature_homophily": -(3 + math.sqrt(5)) / 6,  # -φ/2, -1 (cut), -φ/2; the radius is φ
            "unbiased_homophily": -1.0,
            "two_hop_homophily": 1 / 2,
            "effective_homophily": 19 / 24,
            "neighbourhood_identifiability": 0.5920788902450957,
            "neighbourhood_contrast": 0.032543690979272566,
            "structural_homophily": 1 - 0.5 * np.std([1, 1, 0.5]) / 0.5,
            "generalized_edge_homophily": 0.0,
        },
    ),
    "no edges": (
        Graph.from_edges(*NO_EDGES, labels=[0, 0, 1, 1], features=FEATURES),
        {
            "aggregation_homophily": 1.0,
            "modified_aggregation_homophily": 1.0,
            "aggregation_similarity": 1.0,
            "feature_similarity": 1.0,
            "diversification_distinguishability": 1.0,
        },
    ),
    "labels only on isolated nodes": (
        Graph.from_edges([2], [3], labels=[0, 1, -1, -1], features=FEATURES),
        {
            "generalized_edge_homophily": 0.0,
            "aggregation_homophily": 1.0,
            "modified_aggregation_homophily": 1.0,
            "aggregation_similarity": 1.0,
            "feature_similarity": 1.0,
            "diversification_distinguishability": 1.0,
        },
    ),
    "features all zero": (
        Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1], features=np.zeros((4, 2))),
        {
            "edge_homophily": 2 / 3,
            "node_homophily": 3 / 4,
            "class_homophily": 1 / 3,
            "adjusted_homophily": 1 / 3,
            "label_informativeness": 0.0817041659455,
            "aggregation_homophily": 1.0,
            "modified_aggregation_homophily": 1.0,
            "unbiased_homophily": 1 / 3,
            "two_hop_homophily": 0.0,
            "effective_homophily": 3 / 4,
            "neighbourhood_identifiability": 0.8504896251021614,
            "neighbourhood_contrast": 1 / 4,
            "structural_homophily": 1 / 2,
        },
    ),
    "no nodes": (Graph.from_edges(*NO_EDGES), {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", METRICS)
def test_bad_input_has_a_defined_value_or_one_clear_sentence(case: str, name: str) -> None:
    graph, defined = CASES[case]
    if name in defined:
        assert METRICS[name](graph) == pytest.approx(defined[name], abs=1e-12)
        return
    with pytest.raises(InputError) as error:
        METRICS[name](graph)
    message = str(error.value)
    assert "is undefined: " in message
    assert "\n" not in message


@pytest.mark.parametrize("case", CASES)
def test_all_at_once_gives_a_number_or_a_reason_and_never_nan(case: str) -> None:
    graph, defined = CASES[case]
    result = compute_metrics(graph, names=METRICS)
    assert list(result.values) == list(METRICS)
    assert {name for name, value in result.values.items() if value is not None} == set(defined)
    assert set(result.reasons) == set(METRICS) - set(defined)
    assert not any(value is not None and math.isnan(value) for value in result.values.values())


def test_metrics_are_chosen_by_name() -> None:
    result = compute_metrics(random_graph(0), names=["edge_homophily"])
    assert list(result.values) == ["edge_homophily"]
    with pytest.raises(UnknownNameError, match="did you mean 'edge_homophily'"):
        compute_metrics(random_graph(0), names=["edge_homophilly"])


def test_metrics_that_cost_more_than_linear_time_are_computed_only_by_name() -> None:
    assert set(METRICS) - set(LINEAR) == {"generalized_edge_homophily", "feature_homophily"}
    assert list(compute_metrics(random_graph(0)).values) == list(LINEAR)


def test_label_metrics_need_no_features() -> None:
    graph = random_graph(0).replace(features=None)
    result = compute_metrics(graph, names=METRICS)
    assert set(result.reasons) == {m.name for m in METRICS.values() if m.needs == "features"}


def test_threads_that_share_graphs_get_the_metrics_of_one_thread() -> None:
    """The statistics behind the metrics are remembered per graph; graphs come and go."""
    rng = np.random.default_rng(0)
    edges = [rng.integers(0, 40, (2, 90)) for _ in range(3)]

    def made(number: int) -> Graph:
        return Graph.from_edges(*edges[number], labels=np.arange(40) % 3, features=np.eye(40))

    shared = made(0)
    wanted = [compute_metrics(made(k)).values for k in range(3)]

    def work(number: int) -> bool:
        return all(
            compute_metrics(made((number + k) % 3)).values == wanted[(number + k) % 3]
            and compute_metrics(shared).values == wanted[0]
            for k in range(5)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
