"""Arguments of a wrong type end in one sentence, whichever public function gets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import heterophily as h
from heterophily.errors import HeterophilyError

EDGES = pd.DataFrame({"source": range(60), "target": [(k + 1) % 60 for k in range(60)]})
NODES = pd.DataFrame({"id": range(60), "label": ["a", "b"] * 30, "x": [k / 7 for k in range(60)]})
CALLS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "nothing as a graph": ("is not a graph; pass", lambda _: h.diagnose(None)),
    "kinds as a list": ("gives kinds", lambda _: h.read_tables(EDGES, NODES, columns=["x"])),
    "no encoder": ("graph.encoder", lambda _: h.read_tables(EDGES, NODES, encoder="x")),
    "names as one text": ("list of column", lambda _: h.read_tables(EDGES, NODES, ignore="x")),
    "an unknown choice": ("'refuse' or", lambda _: h.read_tables(EDGES, NODES, unknown_ends="x")),
    "a number as a name": ("name is a text", lambda _: h.read_tables(EDGES, NODES, name=3)),
    "minutes as text": ("it must be above 0", lambda graph: h.auto(graph, minutes="3")),
    "a seed as text": ("a seed is a whole number", lambda graph: h.auto(graph, seed="x")),
    "half a seed": ("whole number", lambda graph: h.train("gcn", graph, seed=1.5, repeats=1)),
    "a graph in place of a model": ("Graph is not a model", lambda graph: h.train(graph, "gcn")),
    "one model as models": ("pass a list of models", lambda graph: h.compare(graph, "gcn")),
    "numbers as models": ("int is not a model", lambda graph: h.compare(graph, [1, 2])),
    "a number as a dataset": ("unknown dataset 3", lambda _: h.load(3)),
    "a number as a file": ("name of a file", lambda _: h.open_graph(3)),
    "a list as a dataset": ("unknown dataset", lambda _: h.load(["cora"])),
    "a folder as a model": ("pass load_model('m')", lambda graph: h.predict("m", graph)),
    "a number as a folder": ("no name of a model folder", lambda _: h.load_model(3)),
    "letters as ends": ("node numbers from 0", lambda _: h.Graph.from_edges(["a"], ["b"])),
}  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> h.Graph:
    return h.as_graph((EDGES, NODES))


@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_type_is_one_sentence(case: str, graph: h.Graph) -> None:
    sentence, call = CALLS[case]
    with pytest.raises(HeterophilyError) as caught:
        call(graph)
    assert sentence in str(caught.value)
