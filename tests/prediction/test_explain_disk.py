"""A node on disk is explained as in memory, from its surroundings alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heterophily import Graph
from heterophily.data.disk.neighbourhood import neighbourhood, place_of
from heterophily.data.disk.write import write_disk_graph
from heterophily.errors import InputError
from heterophily.prediction.explain import explain
from heterophily.prediction.explain_disk import explain_on_disk, hops_seen
from heterophily.prediction.model import GraphFacts, Network, TrainedModel, Vote
from heterophily.training.config import TrainConfig


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 2
    ends = rng.integers(0, 120, (2, 150))
    features = (rng.normal(size=(120, 4)) + labels[:, None]).astype(np.float32)
    ids = np.array([f"n{node}" for node in range(120)])
    return Graph.from_edges(*ends, features=features, labels=labels, node_ids=ids)


@pytest.mark.parametrize(("name", "hops"), [("acm-gcn", 2), ("acm-sign", 2)])
def test_the_same_numbers_as_in_memory(graph: Graph, tmp_path: Path, name: str, hops: int) -> None:
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=50)
    network = Network.on(graph, name, {}, TrainConfig().to_dict())
    built = network.spec.build(num_nodes=120, num_features=4, num_classes=2)
    model = TrainedModel(
        networks=(network,),
        votes=(Vote(0, built.state_dict(), 0, 0),),
        class_names=graph.class_names,
        trained_on=GraphFacts.of(graph, [network]),
        temperature=1.0,
        card={},
    )
    assert hops_seen(model) == hops
    for node in ("n3", "n50", "n119"):
        found, expected = explain_on_disk(model, disk, node), explain(model, graph, node)
        assert found.probability == pytest.approx(expected.probability, abs=1e-6)
        assert found.neighbour_predictions == expected.neighbour_predictions
        assert found.local_homophily == expected.local_homophily
        for mine, other in zip(found.parts, expected.parts, strict=True):
            assert mine.adds == pytest.approx(other.adds, abs=1e-5)
            assert mine.class_weight is None


def test_inner_nodes_have_all_their_edges_in_both_directions(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 60, (2, 120))
    whole = Graph.from_edges(*ends, labels=np.arange(60) % 3, direction="keep")
    disk = write_disk_graph(whole, tmp_path / "g.disk", rows_per_part=7)
    around = neighbourhood(disk, 5, 2)
    places = around.node_ids.astype(int)
    inner = [5, *whole.adjacency[[5]].indices, *whole.adjacency.T.tocsr()[[5]].indices]
    dense, part = whole.adjacency.toarray(), around.adjacency.toarray()
    for node in inner:
        mine = int(np.flatnonzero(places == node)[0])
        np.testing.assert_array_equal(part[mine], dense[node][places])
        np.testing.assert_array_equal(part[:, mine], dense[:, node][places])
        assert part[mine].sum() == dense[node].sum()


def test_an_unknown_node_is_refused_with_an_example(graph: Graph, tmp_path: Path) -> None:
    disk = write_disk_graph(graph, tmp_path / "g.disk")
    with pytest.raises(InputError, match="has no node 'x'; ids look like 'n0'"):
        place_of(disk, "x")
