"""Mini-batches: the same functions as in memory, unbiased samples, nothing that depends on luck."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.batches import streamed
from heterophily.batches.neighbourhoods import Neighbourhoods
from heterophily.batches.prepare import (
    channel_batches,
    row_channels,
    sampled_batches,
    sampled_layers,
)
from heterophily.batches.runs_of_rows import node_batches
from heterophily.channels.columns import FeatureScale
from heterophily.channels.operator import StreamedOperator
from heterophily.channels.rows import parts_of
from heterophily.data.disk.write import write_disk_graph
from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.filters.normalization import normalized_adjacency
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.native.sampler import draw_neighbours
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit
from heterophily.training.mini_batch import fit_batches

N, F, C = 200, 20, 3


def make_graph(*, directed=False) -> Graph:
    rng = np.random.default_rng(0)
    labels = np.arange(N) % C
    source, target = rng.integers(0, N - 2, size=(2, 1200))
    features = rng.normal(size=(N, F)) + np.eye(C, F)[labels]
    return Graph.from_edges(
        source,
        target,
        features=features.astype(np.float32),
        labels=labels,
        num_nodes=N,
        direction="keep" if directed else "drop",
    )


def thirds() -> Split:
    place = np.random.default_rng(1).permutation(N) % 3
    return Split(place == 0, place == 1, place == 2)


def built(spec, seed=0):
    torch.manual_seed(seed)
    return spec.build(num_nodes=N, num_features=F, num_classes=C)


def spec_of(name, **options):
    return MODELS[name].with_options(features="numbers", **options)


def exact(source, model):
    return torch.cat([logits for _, logits in source.exact(model, None)])


ROW_WISE = ["mlp-1", "mlp-2", "sgc-1", "sgc-2", "acm-sgc-1", "acm-sgc-2", "acm-sign"]
LAYERED = ["gcn", "acm-gcn", "acmii-gcn", "res-acm", "res-acmii", "res-sage", "res-gcn"]


@pytest.mark.parametrize("name", [*ROW_WISE, "dir-acm-sign"])
def test_a_node_wise_network_gives_the_same_logits_from_channels(name, tmp_path):
    graph, spec = make_graph(directed=name.startswith("dir")), spec_of(name)
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=64)
    for given in (graph, disk):
        found = exact(channel_batches(given, spec), model)
        torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("name", LAYERED)
def test_streamed_logits_are_those_of_the_whole_graph(name, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "ROWS", 37)
    graph, spec = make_graph(), spec_of(name)
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=64)
    found = exact(sampled_batches(disk, spec, 3), model)
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.disk"]


@pytest.mark.parametrize("name", LAYERED)
def test_a_sample_of_all_neighbours_is_the_whole_neighbourhood(name):
    graph, spec = make_graph(), spec_of(name)
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    source = sampled_batches(graph, spec, N)
    nodes = np.array([3, 5, 77, 199])
    inputs = source.neighbourhoods.inputs(nodes, seed=0, round=0)
    torch.testing.assert_close(model(inputs), expected[nodes], atol=2e-5, rtol=1e-5)
    assert inputs.averages is None
    assert len(inputs.steps) == sampled_layers(spec)


def with_averages(graph, spec):
    """Return a sample of all neighbours behind a first layer that reads averages."""
    return replace(sampled_batches(graph, spec, 1).neighbourhoods, fanouts=(N,))


@pytest.mark.parametrize("name", ["gcn", "acm-gcn"])
def test_a_first_layer_that_filters_features_reads_their_averages(name):
    graph, spec = make_graph(), spec_of(name)
    model = built(spec).eval()
    expected = model(GraphInputs.from_graph(graph, spec.inputs))
    nodes = np.array([3, 5, 77, 199])
    inputs = with_averages(graph, spec).inputs(nodes, seed=0, round=0)
    assert len(inputs.steps) == 1
    torch.testing.assert_close(model(inputs), expected[nodes], atol=2e-5, rtol=1e-5)


def test_dropout_of_the_input_leaves_exact_averages_alone():
    graph, spec = make_graph(), spec_of("gcn", dropout=0.0, input_dropout=0.5)
    model = built(spec).train()
    nodes = np.arange(N)
    inputs = with_averages(graph, spec).inputs(nodes, seed=0, round=0)
    expected = model.eval()(GraphInputs.from_graph(graph, spec.inputs))
    torch.testing.assert_close(model.train()(inputs), expected, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["random-walk", "symmetric"])
@pytest.mark.parametrize("renormalize", [True, False])
def test_the_mean_of_sampled_operators_is_the_operator(kind, renormalize):
    graph = make_graph()
    panels = [np.eye(N, dtype=np.float32)]
    operator = StreamedOperator.of(graph, kind=kind, renormalize=renormalize)
    of = Neighbourhoods(operator, panels, FeatureScale(), (2,))
    nodes, total, squares, draws = np.arange(N), 0.0, 0.0, 600
    for number in range(draws):
        inputs = of.inputs(nodes, seed=5, round=number)
        moved = inputs.operator(inputs.features)[:N].double().numpy()  # its rows
        total, squares = total + moved, squares + moved**2
    mean = total / draws
    noise = np.sqrt(np.maximum(squares / draws - mean**2, 0) / draws)
    expected = normalized_adjacency(graph.adjacency, kind=kind, renormalize=renormalize).toarray()
    off = np.abs(mean - expected) / np.maximum(noise, 1e-6)
    assert np.diag(mean) == pytest.approx(np.diag(expected), abs=1e-6)  # the loop is never drawn
    assert (off > 5).mean() < 1e-3
    assert np.sqrt(np.mean(off[noise > 1e-6] ** 2)) < 1.1


def test_draws_follow_from_seed_round_and_node_alone():
    parts = parts_of(make_graph())
    nodes = np.arange(N)
    one = draw_neighbours(parts, nodes, 3, seed=1, round=2, threads=1)
    many = draw_neighbours(parts, nodes, 3, seed=1, round=2, threads=4)
    np.testing.assert_array_equal(one.neighbours, many.neighbours)
    few = draw_neighbours(parts, nodes[50:60], 3, seed=1, round=2)
    begin, end = one.indptr[50], one.indptr[60]
    np.testing.assert_array_equal(few.neighbours, one.neighbours[begin:end])
    other = draw_neighbours(parts, nodes, 3, seed=1, round=3)
    assert (other.neighbours != one.neighbours).any()


def test_drawn_neighbours_are_distinct_neighbours():
    graph = make_graph()
    drawn = draw_neighbours(parts_of(graph), np.arange(N), 4, seed=0)
    counts = np.diff(drawn.indptr)
    np.testing.assert_array_equal(counts, np.minimum(drawn.degrees, 4))
    owner = np.repeat(np.arange(N), counts)
    pattern = sp.csr_array((np.ones(owner.size), (owner, drawn.neighbours)), shape=(N, N))
    assert pattern.max() == 1  # none twice
    assert (pattern > graph.adjacency).nnz == 0


def test_one_batch_without_dropout_is_the_full_batch():
    graph, split = make_graph(), thirds()
    spec = spec_of("acm-sgc-1", dropout=0.0)
    plain = TrainConfig(max_epochs=30, lr=0.02)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=C)
    expected = fit(build, inputs, graph.labels, split, plain, seed=3)
    found = fit_batches(
        build,
        channel_batches(graph, spec),
        graph.labels,
        split,
        plain.replace(batches="channels", batch_size=N),
        seed=3,
    )
    np.testing.assert_allclose(
        found.history.train_loss, expected.history.train_loss, atol=1e-6, rtol=1e-5
    )
    np.testing.assert_allclose(found.logits, expected.logits, atol=2e-4)


@pytest.mark.parametrize(("name", "batches"), [("acm-sign", "channels"), ("acm-gcn", "sampled")])
def test_a_killed_training_goes_on_and_ends_with_the_same_numbers(tmp_path, name, batches):
    graph, split, spec = make_graph(), thirds(), spec_of(name, hidden=8)
    disk = write_disk_graph(graph, tmp_path / "g.disk")
    config = TrainConfig(max_epochs=6, batches=batches, batch_size=16, evaluate_every=2)

    def source(given):
        if batches == "channels":
            return channel_batches(given, spec)
        return sampled_batches(given, spec, config.fanout)

    class Killed(BaseException):
        pass

    def kill(epoch, most):
        if epoch == 3:
            raise Killed

    def train(given, **how):
        return fit_batches(
            lambda: spec.build(num_nodes=N, num_features=F, num_classes=C),
            source(given),
            graph.labels,
            split,
            config,
            seed=1,
            **how,
        )

    whole = train(disk)
    path = tmp_path / "epoch.checkpoint"
    with pytest.raises(Killed):
        train(disk, checkpoint=path, progress=kill)
    seen = []
    found = train(disk, checkpoint=path, progress=lambda epoch, most: seen.append(epoch))
    assert seen == [4, 5, 6]
    np.testing.assert_array_equal(found.logits, whole.logits)
    np.testing.assert_array_equal(found.history.train_loss, whole.history.train_loss)
    assert np.isnan(found.history.validation_loss).tolist() == [True, False] * 3
    path.write_bytes(path.read_bytes()[:-50])  # a damaged file: begin again
    np.testing.assert_array_equal(train(disk, checkpoint=path).logits, whole.logits)


@pytest.mark.parametrize("run_length", [1, 7])
def test_batches_hold_every_node_once_and_differ_between_epochs(run_length):
    nodes = np.flatnonzero(thirds().train)
    first, second = (
        list(node_batches(nodes, 21, seed=0, epoch=epoch, run_length=run_length))
        for epoch in (1, 2)
    )
    np.testing.assert_array_equal(np.sort(np.concatenate(first)), nodes)
    assert any((a.size != b.size) or (a != b).any() for a, b in zip(first, second, strict=True))


def test_models_say_how_they_can_be_trained():
    assert {name for name in ROW_WISE if row_channels(MODELS[name]) is None} == set()
    assert {name for name in LAYERED if sampled_layers(MODELS[name]) is None} == set()
    assert row_channels(MODELS["acm-gcn"]) is None
    assert sampled_layers(MODELS["acm-gcn+"]) is None  # a weight for every node
    assert sampled_layers(MODELS["acm-gcn+"].with_options(with_structure=False)) == 2
    with pytest.raises(InputError, match="--batches sampled"):
        channel_batches(make_graph(), spec_of("acm-gcn"))
    with pytest.raises(InputError, match="cannot be sampled"):
        sampled_batches(make_graph(), spec_of("gat"), 5)
    with pytest.raises(InputError, match="fanout=3 has no effect"):
        TrainConfig(batches="channels", fanout=3)
