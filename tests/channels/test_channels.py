"""Channels computed by streaming are those that SciPy computes in memory."""

from __future__ import annotations

import json
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.channels import rows as row_blocks
from heterophily.channels.operator import StreamedOperator, padded
from heterophily.channels.precompute import MANIFEST, compute_channels
from heterophily.channels.recipe import ChannelName, ChannelRecipe
from heterophily.channels.rows import blocks_of, degrees_of, parts_of
from heterophily.data.disk.write import write_disk_graph
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.normalization import NormalizedAdjacency
from heterophily.layers.inputs import GraphInputs, InputOptions
from heterophily.native.library import ISA_VARIABLE

N = 300
NAMES = ("own", "low-1", "high-1", "low-2", "high-2")
BOTH = (*NAMES, "reverse-low-1", "reverse-high-1")


def make_graph(*, directed=False, columns=21, seed=0) -> Graph:
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N - 3, size=(2, 1500))
    target[:200] = 5  # a hub; the last three nodes have no edge
    features = rng.normal(3.0, 2.0, (N, columns)).astype(np.float32)
    direction = "keep" if directed else "drop"
    return Graph.from_edges(
        source, target, features=features, labels=np.arange(N) % 3, num_nodes=N, direction=direction
    )


def by_scipy(graph, x):
    x = x.astype(np.float64)
    forward = NormalizedAdjacency.of(graph.adjacency)
    backward = NormalizedAdjacency.of(sp.csr_array(graph.adjacency.T))
    one, two, back = forward @ x, forward @ (forward @ x), backward @ x
    return [x, one, x - one, two, one - two, back, x - back]


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_channels_equal_those_of_scipy(tmp_path, monkeypatch, on_disk, directed):
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 64)
    graph = make_graph(directed=directed)
    given = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=70) if on_disk else graph
    recipe = ChannelRecipe.for_names(BOTH, features="numbers")
    found = compute_channels(given, recipe).rows(BOTH, slice(0, N))
    x = GraphInputs.from_graph(graph, InputOptions(features="numbers")).features.numpy()
    for ours, theirs in zip(found, by_scipy(graph, x), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_rows_of_counts_are_divided_by_their_sum_as_in_memory(tmp_path):
    graph = make_graph()
    counts = np.random.default_rng(1).poisson(0.1, (N, 20)).astype(np.float32)
    graph = Graph(adjacency=graph.adjacency, features=counts, labels=graph.labels)
    disk = write_disk_graph(graph, tmp_path / "g.disk", dtype="bfloat16")
    channels = compute_channels(disk, ChannelRecipe(features="counts"))
    again = compute_channels(disk, ChannelRecipe(features="counts"))  # from the files
    x = GraphInputs.from_graph(graph, InputOptions(features="counts")).features.matrix.to_scipy()
    expected = by_scipy(graph, x.toarray())[1]
    for found in (channels, again):
        np.testing.assert_allclose(found.rows(["low-1"], slice(0, N))[0], expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["random-walk", "symmetric"])
@pytest.mark.parametrize("renormalize", [True, False])
def test_every_normalisation_is_that_of_the_filters(kind, renormalize):
    graph = make_graph()
    x = np.random.default_rng(2).normal(size=(N, 7)).astype(np.float32)
    panel = padded(N, 7)
    panel[:, :7] = x
    operator = StreamedOperator.of(graph, kind=kind, renormalize=renormalize)
    found = np.concatenate([rows for _, rows in operator.product(panel, 7)])
    expected = NormalizedAdjacency.of(graph.adjacency, kind=kind, renormalize=renormalize) @ x
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("isa", ["", "baseline", "none"])
def test_sums_do_not_depend_on_threads_blocks_or_instruction_set(monkeypatch, isa):
    monkeypatch.setenv(ISA_VARIABLE, isa)
    graph = make_graph()
    recipe = ChannelRecipe(hops=2, features="as-given")
    one = compute_channels(graph, recipe, threads=1).rows(["low-2"], slice(0, N))[0]
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 50)
    three = compute_channels(graph, recipe, threads=3).rows(["low-2"], slice(0, N))[0]
    monkeypatch.setenv(ISA_VARIABLE, "")
    best = compute_channels(graph, recipe, threads=2).rows(["low-2"], slice(0, N))[0]
    np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(one, best)


@pytest.mark.parametrize("columns", [5, 17, 40, 64, 70])
def test_panels_of_memory_are_wider_than_those_of_disk_and_hold_the_same_bits(tmp_path, columns):
    graph = make_graph(columns=columns)
    disk = write_disk_graph(graph, tmp_path / "g.disk")
    recipe = ChannelRecipe(hops=2, features="as-given")
    here, there = (compute_channels(of, recipe) for of in (graph, disk))
    assert len(here.low["low-2"]) == -(-columns // 64)
    for found, expected in zip(
        *(each.rows(["low-1", "low-2"], slice(0, N)) for each in (here, there)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_killed_computation_continues_with_the_panel_that_is_missing(tmp_path):
    disk = write_disk_graph(make_graph(columns=40), tmp_path / "g.disk")
    recipe = ChannelRecipe(hops=2)
    whole = compute_channels(disk, recipe, folder=tmp_path / "whole").rows(["low-2"], slice(0, N))

    class Killed(BaseException):
        pass

    def kill(done, total):
        if done == 3:
            raise Killed

    with pytest.raises(Killed):
        compute_channels(disk, recipe, folder=tmp_path / "cut", progress=kill)
    (manifest,) = (tmp_path / "cut").glob(f"*/{MANIFEST}")
    assert len(json.loads(manifest.read_text())["files"]) == 3
    (manifest.parent / ".0123456789ab-low-2-001.f32").write_bytes(b"half a file")
    seen = []
    found = compute_channels(
        disk, recipe, folder=tmp_path / "cut", progress=lambda done, total: seen.append(done)
    )
    assert seen == [4, 5, 6]
    np.testing.assert_array_equal(found.rows(["low-2"], slice(0, N)), whole)
    assert not list(manifest.parent.glob(".*"))


def test_a_damaged_file_is_computed_again(tmp_path):
    disk = write_disk_graph(make_graph(), tmp_path / "g.disk")
    recipe = ChannelRecipe()
    whole = compute_channels(disk, recipe).rows(["low-1"], slice(0, N))
    (file,) = disk.folder.glob("channels/*/low-1-000.f32")
    file.write_bytes(b"\0" + file.read_bytes()[1:])
    seen = []
    found = compute_channels(disk, recipe, progress=lambda *done: seen.append(done))
    assert len(seen) == 1  # one file of two
    np.testing.assert_array_equal(found.rows(["low-1"], slice(0, N)), whole)


def test_two_commands_on_one_folder_take_turns(tmp_path):
    disk = write_disk_graph(make_graph(columns=40), tmp_path / "g.disk")
    first, second = ChannelRecipe(hops=2), ChannelRecipe(features="as-given")
    alone = compute_channels(disk, second, folder=tmp_path / "alone").rows(["low-1"], slice(0, N))
    results = []
    other = Thread(target=lambda: results.append(compute_channels(disk, second)))

    def begin_another(done, total):
        if done == 1:
            other.start()
        other.join(0.05)
        assert other.is_alive()  # it waits

    compute_channels(disk, first, progress=begin_another)
    other.join(60)
    (found,) = results
    np.testing.assert_array_equal(found.rows(["low-1"], slice(0, N)), alone)
    compute_channels(disk, first, progress=lambda *done: pytest.fail("nothing was missing"))


def test_rows_by_number_are_rows_of_a_slice(tmp_path):
    disk = write_disk_graph(make_graph(), tmp_path / "g.disk")
    channels = compute_channels(disk, ChannelRecipe(hops=2, features="numbers"))
    chosen = np.array([7, 3, 250])
    for some, every in zip(
        channels.rows(NAMES, chosen), channels.rows(NAMES, slice(0, N)), strict=True
    ):
        np.testing.assert_array_equal(some, every[chosen])
    channels.release()
    assert channels.rows(["degree"], chosen)[0].shape == (3, 1)


def test_too_small_a_disk_is_said_before_the_work(tmp_path, monkeypatch):
    disk = write_disk_graph(make_graph(), tmp_path / "g.disk")
    monkeypatch.setattr(
        "shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000, "total": 1, "used": 1})
    )
    with pytest.raises(InputError, match="B on the disk"):
        compute_channels(disk, ChannelRecipe())
    assert not list(disk.folder.glob("channels/*/*.f32"))


def test_blocks_cover_all_rows_once(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 10)
    graph = make_graph()
    blocks = list(blocks_of(parts_of(graph)))
    assert sum(block.num_rows for block in blocks) == N
    np.testing.assert_array_equal(
        np.concatenate([block.indices for block in blocks]), graph.adjacency.indices
    )
    np.testing.assert_array_equal(degrees_of(parts_of(graph)), np.diff(graph.adjacency.indptr))


def test_weights_and_missing_features_are_refused_in_one_sentence():
    weighted = Graph.from_edges([0], [1], weight=[2.0], features=[[1.0], [2.0]], labels=[0, 1])
    with pytest.raises(InputError, match="weighted edges"):
        compute_channels(weighted, ChannelRecipe())
    with pytest.raises(InputError, match="no features"):
        compute_channels(Graph.from_edges([0], [1], labels=[0, 1]), ChannelRecipe())
    with pytest.raises(InputError, match="unknown channel 'low'"):
        ChannelName.parse("low")


def test_a_model_finds_the_channels_of_the_graph_it_was_trained_on(tmp_path):
    disk = write_disk_graph(make_graph(), tmp_path / "g.disk")
    recipe = ChannelRecipe(features="numbers")
    trained = compute_channels(disk, recipe)
    again: list[tuple[int, int]] = []
    found = compute_channels(
        disk, recipe, columns=trained.scale.columns, progress=lambda *done: again.append(done)
    )
    assert not again
    np.testing.assert_array_equal(
        *(channels.rows(["low-1"], slice(0, N))[0] for channels in (trained, found))
    )
    other = {"center": [0.0] * 21, "spread": [2.0] * 21}
    compute_channels(disk, recipe, columns=other, progress=lambda *done: again.append(done))
    assert again
