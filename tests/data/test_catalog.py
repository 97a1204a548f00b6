from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heterophily.data import catalog, download
from heterophily.data.catalog import DATASETS, Dataset, find, load, split_sets, splits_hash
from heterophily.data.npz import read_pieces, write_pieces
from heterophily.data.pieces import Pieces
from heterophily.data.splits import Split, SplitBatch
from heterophily.data.upstream import GEOM_GCN, RemoteFile, Source, geom_gcn
from heterophily.errors import DataNotFoundError, InputError, UnknownNameError

PUBLIC = [name for name, dataset in DATASETS.items() if dataset.source is not None]
COUNTED = [name for name in PUBLIC if DATASETS[name].content_hash is None]  # no copy at hand
ON_DISK = [name for name in PUBLIC if name not in COUNTED]


def toy_pieces() -> Pieces:
    split = Split.from_parts([0, 1], [2], [3], num_nodes=4)
    return Pieces(
        edge_index=np.array([[0, 1, 2, 3, 3], [1, 2, 3, 0, 3]]),
        labels=np.array([0, 1, 0, 1]),
        features=np.eye(4, 3, dtype=np.float32),
        split_sets={"fixed": SplitBatch.stack([split] * 2)},
        name="toy",
    )


def toy_dataset(**changes: Any) -> Dataset:
    pieces = toy_pieces()
    source = geom_gcn("toy")
    values: dict[str, Any] = {
        "name": "toy",
        "variant": "A toy.",
        "nodes": 4,
        "edges": 4,
        "features": 3,
        "classes": 2,
        "content_hash": pieces.graph().content_hash,
        "origin": "made up",
        "splits": {"fixed": 2},
        "splits_hash": splits_hash(pieces.split_sets),
        "source": Source(source.files[:4], source.read),
    }
    return Dataset(**{**values, **changes})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, the toy in the table, no folder in the environment, no waiting."""
    folder = tmp_path / "cache"
    monkeypatch.delenv("HETEROPHILY_DATA", raising=False)
    monkeypatch.delenv("HETEROPHILY_MIRROR", raising=False)
    monkeypatch.setattr(catalog, "cache_folder", lambda: folder)
    monkeypatch.setattr(catalog, "DATASETS", {**DATASETS, "toy": toy_dataset()})
    monkeypatch.setattr(download, "RETRIES", 0)
    return folder


def serve_toy(mirror: SimpleNamespace, upstream_files: SimpleNamespace) -> Path:
    root: Path = mirror.folder / GEOM_GCN.split("/", 3)[3]
    nodes, splits = root / "new_data" / "toy", root / "splits"
    nodes.mkdir(parents=True)
    splits.mkdir()
    upstream_files.geom_gcn(nodes, toy_pieces())
    upstream_files.geom_gcn_splits(splits, "toy", toy_pieces().split_sets["fixed"])
    return root


# --- the real files ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ON_DISK)
def test_every_dataset_is_the_declared_one(name: str, data_folder: Path) -> None:
    dataset = DATASETS[name]
    graph = load(name, data_folder=data_folder, offline=True)
    found = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert found == (dataset.nodes, dataset.edges, dataset.features, dataset.classes)
    assert graph.content_hash == dataset.content_hash
    assert graph.name == name
    sets = split_sets(name, data_folder=data_folder, offline=True)
    assert {key: len(batch) for key, batch in sets.items()} == dict(dataset.splits)


@pytest.mark.parametrize("name", sorted(DATASETS.keys() - set(PUBLIC)))
def test_every_embedded_dataset_is_the_declared_one(name: str) -> None:
    assert find(name) == ("embedded", None)
    assert load(name, offline=True).content_hash == DATASETS[name].content_hash
    assert split_sets(name) == {}


@pytest.mark.parametrize("name", COUNTED)
def test_a_dataset_without_a_known_hash_is_checked_by_its_counts(
    name: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.mkdir(exist_ok=True)
    source = DATASETS[name].source
    assert source is not None
    parts = ("train", "val", "test")
    made = cache / source.files[0].name  # a file of the public format, of three nodes
    arrays = {
        "node_features": np.eye(3, 4, dtype=np.float32),
        "node_labels": np.array([0, 1, 0]),
        "edges": np.array([[0, 1], [1, 2]]),
        **{f"{part}_masks": np.eye(3, dtype=bool)[[k] * 10] for k, part in enumerate(parts)},
    }
    np.savez(made, **arrays)
    write_pieces(source.read(cache), cache / f"{name}.npz")
    with pytest.raises(InputError, match=f"{name}' should have"):
        load(name, offline=True)
    counts = {"nodes": 3, "edges": 2, "features": 4, "classes": 2}
    table = {**DATASETS, name: dataclasses.replace(DATASETS[name], **counts)}
    monkeypatch.setattr("heterophily.data.catalog.DATASETS", table)
    assert load(name, offline=True).num_edges == 2
    assert len(split_sets(name, offline=True)["fixed"]) == 10


@pytest.mark.parametrize("name", [name for name in DATASETS if DATASETS[name].drawn])
def test_splits_that_are_drawn_here_are_stratified_and_always_the_same(
    name: str, data_folder: Path
) -> None:
    graph = load(name, data_folder=data_folder, offline=True)  # the hash of the splits is checked
    batch = split_sets(name, data_folder=data_folder, offline=True)["fixed"]
    assert len(batch) == DATASETS[name].drawn == 10
    for part, share in ((batch[0].train, 0.6), (batch[0].test, 0.2)):
        found = np.bincount(graph.labels[part]) / np.bincount(graph.labels)
        np.testing.assert_allclose(found, share, atol=0.01)


def test_options_reach_the_graph_after_the_check(data_folder: Path) -> None:
    texas = load("texas", data_folder=data_folder, direction="keep", self_loops="keep")
    assert (texas.is_directed, texas.num_edges) == (True, 325)
    citeseer = load("citeseer", data_folder=data_folder)
    assert int((~citeseer.is_labelled).sum()) == 15
    assert "15 unlabelled nodes taken out of the fixed splits" in citeseer.remarks[0]
    filled = load("citeseer", data_folder=data_folder, fill_unlabelled=0)
    assert filled.is_labelled.all()
    assert filled.splits is not None
    assert filled.splits[0].sizes == (1596, 1065, 666)


def test_a_graph_whose_edges_are_listed_once_has_no_direction_to_drop(data_folder: Path) -> None:
    assert load("deezer-europe", data_folder=data_folder).report.direction_dropped is False
    assert load("texas", data_folder=data_folder).report.direction_dropped is True


def test_cornell_says_that_its_labels_are_those_of_texas(data_folder: Path) -> None:
    assert "features and labels of Texas" in DATASETS["cornell"].variant
    cornell, texas = (load(name, data_folder=data_folder) for name in ("cornell", "texas"))
    assert np.array_equal(cornell.labels, texas.labels)
    corrected = load("cornell-corrected", data_folder=data_folder)
    assert np.bincount(corrected.labels).tolist() == [38, 16, 30, 82, 17]


def test_texas_comes_the_same_through_the_whole_download(
    data_folder: Path, cache: Path, mirror: SimpleNamespace, upstream_files: SimpleNamespace
) -> None:
    real = read_pieces(data_folder / "texas.npz")
    root = mirror.folder / GEOM_GCN.split("/", 3)[3]
    (root / "new_data" / "texas").mkdir(parents=True)
    (root / "splits").mkdir()
    upstream_files.geom_gcn(root / "new_data" / "texas", real)
    upstream_files.geom_gcn_splits(root / "splits", "texas", real.split_sets["fixed"])
    graph = load("texas", mirror=mirror.url)
    assert graph.content_hash == DATASETS["texas"].content_hash
    assert [path.name for path in cache.glob("[!.]*")] == ["texas.npz"]
    kept = load("texas", offline=True, direction="keep", self_loops="keep")
    assert kept.num_edges == 325  # the cache drops nothing


# --- looking up -------------------------------------------------------------------------------


def test_the_folder_comes_before_the_variable_and_the_variable_before_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "argument", tmp_path / "variable", cache]
    for folder in folders:
        folder.mkdir()
        write_pieces(toy_pieces(), folder / "toy.npz")
    monkeypatch.setenv("HETEROPHILY_DATA", str(folders[1]))
    assert find("toy", folders[0]) == ("folder", folders[0] / "toy.npz")
    assert find("toy") == ("folder", folders[1] / "toy.npz")
    (folders[1] / "toy.npz").unlink()
    assert find("toy") == ("cache", cache / "toy.npz")
    (cache / "toy.npz").unlink()
    assert find("toy") == ("to download", None)
    assert load("toy", data_folder=folders[0], offline=True).num_nodes == 4


def test_a_folder_that_does_not_exist_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="data_folder names 'nowhere', which is not a folder"):
        load("toy", data_folder="nowhere")
    monkeypatch.setenv("HETEROPHILY_DATA", "nowhere")
    with pytest.raises(InputError, match="HETEROPHILY_DATA names 'nowhere'"):
        load("toy")


def test_a_misspelt_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'squirrel'"):
        load("squirel")


def test_offline_without_a_file_says_where_to_put_which_file(cache: Path) -> None:
    with pytest.raises(DataNotFoundError) as caught:
        load("toy", offline=True)
    message = str(caught.value)
    assert f"put toy.npz into {cache} or into the folder that HETEROPHILY_DATA names" in message
    assert "\n" not in message
    assert not cache.exists()


# --- checking ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": 5}, "should have 5 nodes, found 4; move the file away and run: heterophily"),
        ({"edges": 5}, "should have 5 edges, found 4"),
        ({"features": 5}, "should have 5 features, found 3"),
        ({"classes": 5}, "should have 5 classes, found 2"),
        ({"splits": {"fixed": 3}}, "should have 3 fixed splits, found 2"),
        ({"splits": {"fixed": 2, "public": 1}}, "should have 1 public splits, found 0"),
        ({"content_hash": "0" * 64}, "but content hash .* instead of 0000000000000000"),
        ({"splits_hash": "0" * 64}, "but hash of the splits .* instead of 0000000000000000"),
    ],
)
def test_a_file_that_is_not_the_declared_dataset_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(catalog, "DATASETS", {"toy": toy_dataset(**changes)})
    cache.mkdir()
    write_pieces(toy_pieces(), cache / "toy.npz")
    for options in ({}, {"direction": "keep"}):
        with pytest.raises(InputError, match=words) as caught:
            load("toy", offline=True, **options)  # type: ignore[arg-type]
        assert str(cache / "toy.npz") in str(caught.value)
        assert "\n" not in str(caught.value)


def test_cornell_and_its_corrected_variant_cannot_be_swapped(
    data_folder: Path, tmp_path: Path
) -> None:
    shutil.copy(data_folder / "cornell-corrected.npz", tmp_path / "cornell.npz")
    with pytest.raises(InputError, match="another variant"):
        load("cornell", data_folder=tmp_path)


# --- downloading ------------------------------------------------------------------------------


def test_a_download_is_converted_checked_and_kept(
    cache: Path, mirror: SimpleNamespace, upstream_files: SimpleNamespace
) -> None:
    serve_toy(mirror, upstream_files)
    graph = load("toy", mirror=mirror.url)
    assert graph.content_hash == toy_dataset().content_hash
    assert len(mirror.server.asked) == 4
    assert [path.name for path in cache.glob("[!.]*")] == ["toy.npz"]
    assert load("toy", offline=True).content_hash == graph.content_hash
    assert len(mirror.server.asked) == 4


def test_the_mirror_can_come_from_the_environment(
    cache: Path,
    mirror: SimpleNamespace,
    upstream_files: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve_toy(mirror, upstream_files)
    monkeypatch.setenv("HETEROPHILY_MIRROR", mirror.url + "/")
    assert len(split_sets("toy", progress=True)["fixed"]) == 2
    monkeypatch.setenv("HETEROPHILY_MIRROR", "ftp://x")
    (cache / "toy.npz").unlink()
    with pytest.raises(InputError, match="the mirror 'ftp://x' must start with http"):
        load("toy")


def test_a_server_that_fails_once_is_asked_again(
    cache: Path,
    mirror: SimpleNamespace,
    upstream_files: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve_toy(mirror, upstream_files)
    monkeypatch.setattr(download, "RETRIES", 1)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    mirror.server.failures = 1
    assert load("toy", mirror=mirror.url).num_nodes == 4
    assert len(mirror.server.asked) == 5


def test_a_missing_upstream_file_is_one_sentence_and_leaves_nothing(
    cache: Path, mirror: SimpleNamespace, upstream_files: SimpleNamespace
) -> None:
    root = serve_toy(mirror, upstream_files)
    (root / "splits" / "toy_split_0.6_0.2_1.npz").unlink()
    with pytest.raises(DataNotFoundError) as caught:
        load("toy", mirror=mirror.url)
    message = str(caught.value)
    assert "the server answered 404" in message
    assert f"put toy.npz into {cache}" in message
    assert "\n" not in message
    assert list(cache.iterdir()) == []


def test_no_network_is_one_sentence(cache: Path, mirror: SimpleNamespace) -> None:
    mirror.server.shutdown()
    mirror.server.server_close()
    with pytest.raises(DataNotFoundError, match="no connection") as caught:
        load("toy", mirror=mirror.url)
    assert "\n" not in str(caught.value)


def test_changed_public_files_are_refused_and_not_kept(
    cache: Path, mirror: SimpleNamespace, upstream_files: SimpleNamespace
) -> None:
    root = serve_toy(mirror, upstream_files)
    edges = root / "new_data" / "toy" / "out1_graph_edges.txt"
    edges.write_text(edges.read_text().replace("2\t3", "2\t0"))
    with pytest.raises(InputError, match="the public files have changed") as caught:
        load("toy", mirror=mirror.url)
    assert "content hash" in str(caught.value) or "edges" in str(caught.value)
    edges.write_text("<html>")
    with pytest.raises(InputError, match=r"out1_graph_edges.txt"):
        load("toy", mirror=mirror.url)
    assert list(cache.iterdir()) == []


def test_a_wrong_checksum_sends_to_the_next_address_and_then_ends(
    cache: Path,
    mirror: SimpleNamespace,
    upstream_files: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve_toy(mirror, upstream_files)
    dataset = toy_dataset()
    assert dataset.source is not None
    first, *others = dataset.source.files
    good = first.urls[0]
    bad = RemoteFile((good + ".missing", good), first.name)
    source = Source((bad, *others), dataset.source.read)
    table = {"toy": dataclasses.replace(dataset, source=source)}
    monkeypatch.setattr(catalog, "DATASETS", table)
    assert load("toy", mirror=mirror.url).num_nodes == 4
    (cache / "toy.npz").unlink()
    false = RemoteFile((good,), first.name, "0" * 64)
    table["toy"] = dataclasses.replace(dataset, source=Source((false, *others), source.read))
    with pytest.raises(DataNotFoundError, match="its checksum is not the published one"):
        load("toy", mirror=mirror.url)
    assert list(cache.glob("[!.]*")) == []


def test_a_file_without_a_published_checksum_must_stay_that_of_the_first_download(
    cache: Path, mirror: SimpleNamespace, upstream_files: SimpleNamespace
) -> None:
    serve_toy(mirror, upstream_files)
    load("toy", mirror=mirror.url)
    notes = cache / ".downloads.json"
    sums = json.loads(notes.read_text())
    assert len(sums) == 4
    assert all(len(found) == 64 for found in sums.values())
    (cache / "toy.npz").unlink()
    load("toy", mirror=mirror.url)  # the same files are welcome
    (cache / "toy.npz").unlink()
    first = min(sums)
    notes.write_text(json.dumps({**sums, first: "0" * 64}))
    with pytest.raises(DataNotFoundError, match="not the file of the first download"):
        load("toy", mirror=mirror.url)
    assert not (cache / "toy.npz").exists()
    notes.write_text("[" * 100_000)  # damaged notes are no hindrance
    load("toy", mirror=mirror.url)


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_one_sentence(cache: Path) -> None:
    cache.mkdir(mode=0o500)
    with pytest.raises(InputError, match="cannot write into"):
        load("toy")


def test_a_cache_that_is_a_file_is_one_sentence(cache: Path) -> None:
    cache.write_text("")
    with pytest.raises(InputError, match=r"cannot write into .*cache: File exists"):
        load("toy")


def test_every_dataset_on_disk_names_pinned_public_files() -> None:
    for name in PUBLIC:
        source = DATASETS[name].source
        assert source is not None
        for file in source.files:
            for url in file.urls:
                assert url.startswith("https://")
                is_pinned = any(len(part) == 40 for part in url.split("/"))
                assert is_pinned or file.sha256 is not None
