from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import heterophily
from heterophily import (
    AcmClassifier,
    Graph,
    TrainConfig,
    as_graph,
    auto,
    compare,
    compute_metrics,
    diagnose,
    explain,
    from_scipy,
    load,
    train,
    tune,
    write_report,
)
from heterophily.data.graph import same_content
from heterophily.errors import InputError

COUNT = 40
NAMES = np.array(["ok", "fraud"])[np.arange(COUNT) % 2]
ENDS = np.arange(COUNT), (np.arange(COUNT) + 1) % COUNT


def matrix():
    return sp.csr_array((np.ones(COUNT), ENDS), (COUNT, COUNT))


def tables():
    edges = pa.table({"source": ENDS[0], "target": ENDS[1]})
    age = 30.0 + np.random.default_rng(0).normal(size=COUNT)
    nodes = pa.table({"id": np.arange(COUNT), "label": NAMES, "age": age})
    return edges, nodes


def networkx_graph():
    graph = nx.cycle_graph(COUNT)
    nx.set_node_attributes(graph, dict(enumerate(NAMES)), "class")
    return graph


FORMS = {
    "matrix and labels": lambda: (matrix(), NAMES),
    "networkx": networkx_graph,
    "arrow": lambda: tuple(table.select(table.column_names[:2]) for table in tables()),
    "pandas": lambda: tuple(table.select(table.column_names[:2]).to_pandas() for table in tables()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_graph_is_the_same_graph(form):
    if form == "pandas":
        pytest.importorskip("pandas")
    wanted = from_scipy(matrix(), labels=NAMES)
    assert wanted.class_names == ("fraud", "ok")
    assert same_content(as_graph(FORMS[form]()), wanted)


def test_pyg_data_and_names_of_datasets_are_graphs():
    pytest.importorskip("torch_geometric")
    karate = load("karate")
    assert as_graph("karate").content_hash == karate.content_hash
    assert as_graph(heterophily.to_pyg(karate)).content_hash == karate.content_hash
    assert as_graph(karate) is karate


def test_an_option_goes_to_the_reader():
    edges, nodes = tables()
    nodes = nodes.rename_columns(["id", "kind", "age"])
    assert as_graph((edges, nodes), label="kind").class_names == ("fraud", "ok")


@pytest.mark.parametrize(
    "call",
    [
        diagnose,
        compute_metrics,
        auto,
        lambda graph: train("gcn", graph),
        lambda graph: compare(graph, ["gcn"], store=None),
        lambda graph: tune("gcn", graph, store=None),
        lambda graph: explain(trained(), graph, 0),
        lambda graph: heterophily.predict(trained(), graph),
        lambda graph: write_report(None, "none.html", graph=graph),
    ],
)
@pytest.mark.parametrize("graph", [7, {"edges": []}, (1, 2), None])
def test_what_is_no_graph_is_refused_in_one_sentence(call, graph):
    if graph is None and call is not diagnose:
        pytest.skip("None is a default elsewhere")
    with pytest.raises(InputError, match="is not a graph; pass a Graph, the name of a dataset"):
        call(graph)


def trained():
    from heterophily.prediction.model import GraphFacts, TrainedModel

    facts = GraphFacts.of(Graph.from_edges([0], [1]), [])
    return TrainedModel((), (), ("a", "b"), facts)


def test_an_option_that_no_reader_has_is_refused():
    with pytest.raises(InputError, match="lable= is not an option"):
        as_graph((matrix(), NAMES), lable="kind")
    with pytest.raises(InputError, match="cannot be applied"):
        as_graph(load("karate"), label="kind")


def test_class_names_come_out_of_the_classifier():
    classifier = AcmClassifier("mlp-2", max_epochs=3, hidden=4).fit(tables())
    assert classifier.classes_.tolist() == ["fraud", "ok"]
    assert set(classifier.predict(tables())) <= {"fraud", "ok"}
    assert 0 <= classifier.score(tables()) <= 1


def test_tables_go_in_and_a_table_with_class_columns_comes_out():
    config = {"max_epochs": 3}
    result = auto(tables(), minutes=0.001, max_trials=1, seeds=1, workers=1, config=config)
    found = result.predict(tables()).to_arrow()
    assert found.column_names[:4] == ["node", "label", "p(fraud)", "p(ok)"]
    assert set(found["label"].to_pylist()) <= {"fraud", "ok"}
    total = np.add(found["p(fraud)"].to_numpy(), found["p(ok)"].to_numpy())
    np.testing.assert_allclose(total, 1)
    np.testing.assert_array_equal(found["node"], np.arange(COUNT))
    pytest.importorskip("pandas")
    frame = result.predict().to_frame()
    assert frame.sort_values("p(fraud)", ascending=False).shape[0] == COUNT


def test_fixed_splits_of_a_graph_without_splits_are_refused():
    with pytest.raises(InputError, match="has no fixed splits"):
        train("gcn", (matrix(), NAMES), splits="fixed", config=TrainConfig(max_epochs=1))
