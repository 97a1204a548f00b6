"""Each type of edges is measured by itself, and the remark says whether one carries the signal."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily import Graph, diagnose
from heterophily.diagnosis.edge_types import TypeSignal, type_remark, type_signals

NODES = 400


def graph_of(**types: float) -> Graph:
    """Return a graph with 1,200 edges of each type, of which a share joins two of a class."""
    rng = np.random.default_rng(0)
    labels = np.arange(NODES) % 2
    source, target, kinds = [], [], []
    for name, homophily in types.items():
        first = rng.integers(0, NODES, 1200)
        is_same = rng.random(1200) < homophily
        second = 2 * rng.integers(0, NODES // 2, 1200) + (labels[first] ^ ~is_same & 1)
        source.append(first)
        target.append(second)
        kinds += [name] * 1200
    return Graph.from_edges(
        np.concatenate(source), np.concatenate(target), edge_type=kinds, labels=labels
    )


def test_one_type_carries_the_signal_of_heterophily() -> None:
    signals = type_signals(graph_of(buys=0.1, views=0.5))
    assert [signal.tells for signal in signals] == [True, False]
    assert signals[0].chance is not None
    assert signals[0].chance.homophily.value == pytest.approx(-0.8, abs=0.05)
    assert type_remark(signals).startswith("Only edges of type 'buys' tell about the classes")


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ({"a": 0.5, "b": 0.5}, "no type of edges tells"),
        ({"a": 0.95, "b": 0.7}, "Edges of type 'a' carry most of the signal"),
        ({"a": 0.85, "b": 0.15}, "Several types of edges tell about the classes: "),
        ({"a": 0.9}, ""),
    ],
)
def test_the_remark_follows_the_types(types: dict[str, float], sentence: str) -> None:
    remark = type_remark(type_signals(graph_of(**types)))
    assert sentence in remark
    assert bool(sentence) == bool(remark)


def test_types_without_labelled_edges_are_undefined() -> None:
    graph = Graph.from_edges([0, 2], [1, 3], edge_type=["a", "b"], labels=[0, 1, -1, -1])
    known, unknown = type_signals(graph)
    assert known.row()[2] == "1"
    assert unknown.row() == ("b", "1", "0", "undefined", "undefined")
    assert unknown == TypeSignal("b", 1, None)
    assert unknown.to_dict()["label_informativeness"] is None


def test_the_diagnosis_shows_types_in_text_page_and_data() -> None:
    found = diagnose(graph_of(buys=0.1, views=0.5), quick=True)
    assert "Only edges of type 'buys'" in " ".join(str(found).split())
    assert "type of edges" in str(found)
    assert "<h2>Types of edges</h2>" in found._repr_html_()
    names = [row["name"] for row in found.to_dict()["edge_types"]]
    assert names == ["buys", "views"]
    plain = diagnose(graph_of(buys=0.1).replace(edge_types=None), quick=True)
    assert "edge_types" not in plain.to_dict()
