"""Sparse features stay sparse in mini-batches, and give what dense ones give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.batches.prepare import channel_batches, sampled_batches
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.layers.averaged_features import AveragedFeatures
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.sparse_features import SparseFeatures
from heterophily.models.catalog import MODELS
from heterophily.native.sampler import all_neighbours
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit
from heterophily.training.mini_batch import fit_batches

N, F, C = 200, 150, 3
KINDS = ["counts", "numbers", "as-given"]
ROW_WISE = ["mlp-1", "mlp-2", "sgc-1", "acm-sgc-1", "acm-sgc-2", "acm-sign"]
LAYERED = ["gcn", "acm-gcn", "acmii-gcn", "res-acm", "res-gcn"]


def words(*, edges=800) -> Graph:
    """Return a graph whose features are sparse, with a node without words and one without edges."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.03, (N, F)).astype(np.float32)
    counts[7] = 0
    source, target = rng.integers(0, N - 2, size=(2, edges))
    return Graph.from_edges(
        source, target, features=sp.csr_array(counts), labels=np.arange(N) % C, num_nodes=N
    )


def as_dense(graph: Graph) -> Graph:
    features = graph.features.toarray()
    return Graph(adjacency=graph.adjacency, features=features, labels=graph.labels)


def built(spec, seed=0):
    torch.manual_seed(seed)
    return spec.build(num_nodes=N, num_features=F, num_classes=C)


def exact(source, model):
    return torch.cat([logits for _, logits in source.exact(model, None)])


@pytest.mark.parametrize("kind", KINDS)
def test_channels_of_sparse_features_are_those_of_dense_ones_and_sparse_where_they_can_be(kind):
    recipe = ChannelRecipe(hops=2, features=kind)
    sparse = compute_channels(words(), recipe)
    dense = compute_channels(as_dense(words()), replace(recipe, features="as-given"))
    assert isinstance(sparse.own, sp.csr_array)
    assert isinstance(sparse.low["low-1"], sp.csr_array)
    assert isinstance(sparse.low["low-2"], list)  # most words occur two edges away
    if kind == "as-given":
        names = ["own", "low-1", "high-1", "low-2", "high-2"]
        for rows in (slice(3, 90), np.array([5, 7, 199])):
            found, expected = sparse.rows(names, rows), dense.rows(names, rows)
            for ours, theirs in zip(found, expected, strict=True):
                ours = ours.toarray() if sp.issparse(ours) else ours
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROW_WISE)
def test_node_wise_networks_give_the_logits_of_the_whole_graph(name, kind):
    graph, spec = words(), MODELS[name].with_options(features=kind)
    model = built(spec).eval()
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    source = channel_batches(graph, spec)
    assert isinstance(source._blocks(slice(0, 9))["own"], SparseFeatures)
    torch.testing.assert_close(exact(source, model), model(inputs), atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERED)
def test_a_sample_of_all_neighbours_gives_the_logits_of_the_whole_graph(name, kind):
    graph, spec = words(), MODELS[name].with_options(features=kind)
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    nodes = np.array([3, 7, 77, 199])
    inputs = sampled_batches(graph, spec, N).neighbourhoods.inputs(nodes, seed=0, round=0)
    assert isinstance(inputs.features, SparseFeatures)
    torch.testing.assert_close(model(inputs), expected[nodes], atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["gcn", "acm-gcn"])
def test_averages_of_sparse_features_are_multiplied_and_never_stored(name):
    graph, spec = words(), MODELS[name].with_options(features="counts")
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    nodes = np.array([3, 7, 77, 199])
    cut = sampled_batches(graph, spec, 2).neighbourhoods
    inputs = replace(cut, fanouts=(N,)).inputs(nodes, seed=0, round=0)
    assert isinstance(inputs.averages, AveragedFeatures)
    assert len(inputs.steps) == 1
    torch.testing.assert_close(model(inputs), expected[nodes], atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize(("name", "batches"), [("acm-gcn", "sampled"), ("acm-sgc-1", "channels")])
def test_one_batch_without_dropout_is_the_full_batch(name, batches):
    graph = words()
    spec = MODELS[name].with_options(dropout=0.0, input_dropout=0.0, features="counts")
    third = np.random.default_rng(1).permutation(N) % 3
    split = Split(third == 0, third == 1, third == 2)
    numbers = {"max_epochs": 4, "stopping": "none", "lr": 0.05}
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    whole = fit(lambda: built(spec), inputs, graph.labels, split, TrainConfig(**numbers), seed=0)
    if batches == "channels":
        source = channel_batches(graph, spec)
    else:
        source = sampled_batches(graph, spec, 2)
        source.neighbourhoods = replace(source.neighbourhoods, fanouts=(N,))
    config = TrainConfig(batches=batches, batch_size=N, **numbers)
    mini = fit_batches(lambda: built(spec), source, graph.labels, split, config, seed=0)
    np.testing.assert_allclose(mini.history.train_loss, whole.history.train_loss, rtol=1e-4)


def test_all_neighbours_are_those_of_the_rows_whatever_the_parts(tmp_path):
    from heterophily.channels.rows import parts_of
    from heterophily.data.disk.write import write_disk_graph

    graph = words()
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=33)
    nodes = np.array([199, 3, 100, 4, 32, 33])
    for parts in (parts_of(graph), parts_of(disk)):
        found = all_neighbours(parts, nodes)
        rows = [graph.adjacency[[node]].indices for node in nodes]
        np.testing.assert_array_equal(found.neighbours, np.concatenate(rows))
        np.testing.assert_array_equal(found.degrees, [row.size for row in rows])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["acm-gcn", "acm-sgc-1", "acm-sign", "res-gcn"])
def test_sparse_features_on_disk_give_what_they_give_in_memory(tmp_path, name, kind):
    from heterophily.data.disk.write import write_disk_graph

    graph, spec = words(), MODELS[name].with_options(features=kind)
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=64)
    assert disk.manifest.features.sparse is not None
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    source = sampled_batches if name in LAYERED else channel_batches
    found = exact(source(disk, spec, *([2] if name in LAYERED else [])), model)
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-5)
    if name == "acm-gcn":
        nodes = np.array([3, 7, 77, 199])
        cut = sampled_batches(disk, spec, 2).neighbourhoods
        inputs = replace(cut, fanouts=(N,)).inputs(nodes, seed=0, round=0)
        torch.testing.assert_close(model(inputs), expected[nodes], atol=2e-5, rtol=1e-5)
