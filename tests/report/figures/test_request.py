"""Requests: equal ones have equal identities, and unfit graphs are refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report.made import portrait, ring

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.report.figures.request import Request, check_classes, name_of, runs_of, sample


def test_identity_follows_the_content_of_a_graph_not_its_name() -> None:
    first, second = (
        Request(graphs=(ring(count, name="same"),)).identity(("graphs",)) for count in (40, 44)
    )
    assert first != second
    assert first == Request(graphs=(ring(40, name="same"),)).identity(("graphs",))


def test_catalog_names_are_known_without_their_data() -> None:
    found = Request(graphs=("squirrel",), data_folder=Path("nowhere"), offline=True)
    assert len(found.identity(("graphs",))["graphs"][0]["sha256"]) == 64


def test_identity_of_results_follows_their_content(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text("{}")
    request = Request(results=(tmp_path,))
    before = request.identity(("results",))
    file.write_text("[]")
    assert request.identity(("results",)) != before
    with pytest.raises(InputError, match="no such file or folder of results"):
        Request(results=(tmp_path / "none",)).identity(("results",))


def test_graphs_that_cannot_be_judged_are_refused() -> None:
    with pytest.raises(InputError, match="no labelled"):
        check_classes(Graph.from_edges([0], [1]))
    with pytest.raises(InputError, match=r"one class.*at least two"):
        check_classes(Graph.from_edges([0], [1], labels=[0, 0]))
    with pytest.raises(InputError, match="no edge"):
        check_classes(Graph.from_edges([], [], labels=[0, 1]))


def test_a_sample_is_sorted_without_repeats_and_the_same_for_a_seed() -> None:
    first = sample(1000, 50, seed=3)
    assert np.array_equal(first, np.unique(first))
    assert np.array_equal(first, sample(1000, 50, seed=3))
    assert not np.array_equal(first, sample(1000, 50, seed=4))


@pytest.mark.parametrize("nodes", [0, 5001])
def test_too_many_nodes_are_refused(nodes: int) -> None:
    with pytest.raises(InputError, match="choose 1 to 5,000"):
        sample(10, nodes, seed=0)


def test_names_of_files_and_graphs() -> None:
    assert name_of(ring()) == "ring"
    assert name_of("folder/my graph.npz") == "my graph"


def test_runs_lead_back_to_their_keys() -> None:
    made = portrait(ring())
    assert runs_of([made])[0]["key"] == made.record.key
