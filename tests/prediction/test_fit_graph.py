import re
from dataclasses import replace

import numpy as np
import pytest
from prediction.quick import make_graph, reordered, with_new_nodes

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.prediction.predict import predict


@pytest.mark.parametrize("name", ["acm-gcn+", "linkx", "glognn"])
def test_weights_of_nodes_refuse_other_nodes_with_the_reason(trained, graph, name):
    model = trained(name)
    assert predict(model, graph).probabilities.shape == (60, 3)
    with pytest.raises(InputError, match=f"{re.escape(name)} has a weight for every node"):
        predict(model, with_new_nodes(graph))
    with pytest.raises(InputError, match="not those of training in the same order"):
        predict(model, reordered(graph, np.arange(60)[::-1]))


def test_without_features_other_nodes_are_refused(trained):
    bare = make_graph(with_features=False)
    model = trained("acm-gcn", on=bare)
    assert predict(model, bare).probabilities.shape == (60, 3)
    with pytest.raises(InputError, match="the graph had no features"):
        predict(model, make_graph(num_nodes=66, with_features=False))


def test_features_must_match(trained, graph):
    model = trained("acm-gcn")
    narrow = graph.replace(features=graph.features[:, :2])
    with pytest.raises(InputError, match="has 2 feature columns, the model was trained with 3"):
        predict(model, narrow)


def named(model, names):
    return replace(model, trained_on=replace(model.trained_on, feature_names=names))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "b"), "lacks the feature column 'c'"),
        (("a",), "lacks the feature columns 'b', 'c'"),
        (("a", "b", "c", "d"), "the feature column 'd' that the model does not know.*--ignore d"),
        (("c", "b", "a"), "in another order than in training.*--features a,b,c"),
    ],
)
def test_feature_columns_match_by_name(trained, graph, names, message):
    other = graph.replace(features=np.ones((graph.num_nodes, len(names))), feature_names=names)
    with pytest.raises(InputError, match=message):
        predict(named(trained(), ("a", "b", "c")), other)


def test_a_directed_graph_is_refused_by_a_model_of_an_undirected_one(trained, graph):
    directed = Graph.from_edges([0, 1], [1, 2], features=np.eye(3), direction="keep")
    with pytest.raises(InputError, match="is directed, the model was trained on an undirected"):
        predict(trained(), directed)
