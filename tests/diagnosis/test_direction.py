import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.diagnosis.direction import direction_signal


def senders_and_receivers(*, seed=0, num_nodes=300, direction="keep"):
    """Senders point to hubs, hubs point to receivers: without direction the two look alike."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, num_nodes)
    hubs = np.flatnonzero(labels == 2)
    others = np.repeat(np.flatnonzero(labels < 2), 3)
    ends = rng.choice(hubs, others.size)
    sends = labels[others] == 0
    source, target = np.where(sends, others, ends), np.where(sends, ends, others)
    return Graph.from_edges(source, target, labels=labels, direction=direction)


def random_ways(*, seed, num_nodes=400):
    """Edges within classes, each written in a random direction."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, num_nodes)
    source, target = rng.integers(0, num_nodes, (2, 4 * num_nodes))
    kept = (labels[source] == labels[target]) | (rng.random(source.size) < 0.3)
    features = np.eye(3)[labels] + rng.normal(0, 2, (num_nodes, 3))
    return Graph.from_edges(
        source[kept], target[kept], labels=labels, features=features, direction="keep"
    )


def test_a_direction_that_goes_with_the_labels_is_seen():
    found = direction_signal(senders_and_receivers())
    assert found is not None
    assert found.tells
    assert found.gain.value > 0.2
    assert found.to_dict()["reading"] in ("given", "reversed", "apart")


def test_reversed_edges_are_read_in_reverse():
    graph = senders_and_receivers()
    back = direction_signal(graph.replace(adjacency=graph.adjacency.T.tocsr()))
    assert back is not None
    assert back.gain.value == pytest.approx(direction_signal(graph).gain.value, abs=0.1)


def test_a_direction_drawn_at_random_tells_nothing():
    found = [direction_signal(random_ways(seed=seed)) for seed in range(5)]
    assert not any(signal.tells for signal in found)


def test_undirected_edges_written_once_have_no_direction():
    graph = senders_and_receivers(direction="drop")
    assert direction_signal(graph) is None
    rows, columns = graph.adjacency.nonzero()
    once = rows < columns
    listed = Graph.from_edges(rows[once], columns[once], labels=graph.labels, direction="keep")
    assert listed.is_directed
    assert direction_signal(listed) is None


def test_with_too_few_labels_nothing_is_said():
    graph = senders_and_receivers()
    few = np.where(np.arange(graph.num_nodes) < 8, graph.labels, -1)
    assert direction_signal(graph.replace(labels=few)) is None
