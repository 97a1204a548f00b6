"""A graph written to a folder and read in place is the same graph; damage is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily import Graph
from heterophily.data.disk.files import file_sha256, from_bfloat16, to_bfloat16
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import MANIFEST, _own_sha256
from heterophily.data.disk.write import write_disk_graph
from heterophily.data.graph import same_content
from heterophily.errors import InputError


def random_graph(num_nodes: int = 60, *, direction: str = "drop", **parts: object) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, num_nodes, (2, 4 * num_nodes))
    return Graph.from_edges(
        *ends,
        num_nodes=num_nodes,
        direction=direction,  # type: ignore[arg-type]
        labels=rng.integers(-1, 3, num_nodes),
        features=rng.normal(size=(num_nodes, 21)).astype(np.float32),
        **parts,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("direction", ["drop", "keep"])
@pytest.mark.parametrize("rows_per_part", [1, 7, 1000])
def test_what_was_written_is_read_back(tmp_path: Path, direction: str, rows_per_part: int) -> None:
    graph = random_graph(direction=direction)
    written = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=rows_per_part)
    written.check()
    assert same_content(written.to_graph(), graph)
    assert written.num_edges == graph.num_edges
    assert [part.first for part in written.parts] == list(range(0, 60, rows_per_part))


def test_reverse_parts_of_a_directed_graph_are_the_transpose(tmp_path: Path) -> None:
    graph = random_graph(direction="keep")
    disk = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=13)
    dense = np.vstack([part.matrix().toarray() for part in disk.reverse_parts])
    np.testing.assert_array_equal(dense, graph.adjacency.toarray().T)


def test_reverse_parts_of_an_undirected_graph_are_its_parts(tmp_path: Path) -> None:
    disk = write_disk_graph(random_graph(), tmp_path / "g.disk")
    assert disk.reverse_parts is disk.parts


def test_panels_hold_the_columns_in_order(tmp_path: Path) -> None:
    graph = random_graph()
    disk = write_disk_graph(graph, tmp_path / "g.disk", panel_width=8)
    assert [panel.columns for panel in disk.panels] == [(0, 8), (8, 16), (16, 21)]
    chosen = np.array([5, 3, 3])
    for panel in disk.panels:
        np.testing.assert_array_equal(
            panel.read(chosen), graph.features[chosen, slice(*panel.columns)]
        )


def test_bfloat16_keeps_eight_bits_and_rounds_to_even(tmp_path: Path) -> None:
    graph = random_graph()
    disk = write_disk_graph(graph, tmp_path / "g.disk", dtype="bfloat16")
    read = np.hstack([panel.read() for panel in disk.panels])
    np.testing.assert_allclose(read, graph.features, rtol=2.0**-8)
    assert from_bfloat16(to_bfloat16(np.array([1 + 2.0**-8]))) == 1.0
    assert from_bfloat16(to_bfloat16(np.array([1 + 3 * 2.0**-8]))) == 1 + 2.0**-6


@pytest.mark.parametrize("ids", [np.arange(60) * 3 - 7, np.array([f"n{k}" for k in range(60)])])
def test_original_ids_are_kept(tmp_path: Path, ids: np.ndarray) -> None:
    disk = write_disk_graph(random_graph(node_ids=ids), tmp_path / "g.disk")
    assert disk.node_ids(np.array([2, 0])).tolist() == ids[[2, 0]].tolist()
    assert disk.node_ids(slice(3, 5)).tolist() == ids[3:5].tolist()
    assert disk.to_graph().node_ids.tolist() == ids.tolist()


def test_empty_graph_is_written_and_read(tmp_path: Path) -> None:
    disk = write_disk_graph(Graph.from_edges([], [], num_nodes=0), tmp_path / "g.disk")
    assert (disk.num_nodes, disk.num_edges, disk.parts) == (0, 0, ())
    assert disk.to_graph().num_nodes == 0


@pytest.mark.parametrize("suffix", ["indptr", "indices", "int32", "f32"])
def test_every_cut_and_every_flipped_bit_is_told_with_the_name_of_the_file(
    tmp_path: Path, suffix: str
) -> None:
    disk = write_disk_graph(random_graph(), tmp_path / "g.disk")
    path = next(disk.folder.glob(f"*.{suffix}"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"{path.name} is damaged"):
        DiskGraph.open(disk.folder).check()
    with pytest.raises(InputError, match=f"{path.name} is damaged"):
        DiskGraph.open(disk.folder).to_graph()  # nobody has to ask for a check
    path.write_bytes(data[:-4])
    with pytest.raises(InputError, match=f"{path.name} has|parts hold"):
        DiskGraph.open(disk.folder)
    path.unlink()
    with pytest.raises(InputError, match=path.name):
        DiskGraph.open(disk.folder)


def test_no_flipped_bit_of_the_manifest_goes_unnoticed(tmp_path: Path) -> None:
    disk = write_disk_graph(random_graph(), tmp_path / "g.disk")
    path = disk.folder / MANIFEST
    data = path.read_bytes()
    told = 0
    for place in range(0, len(data), 37):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            DiskGraph.open(disk.folder)
        except InputError:
            told += 1
        else:  # white space between tokens
            assert json.loads(path.read_bytes()) == json.loads(data)
    assert told > 10


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": 3}, "version 3"),
        ({"format": "other"}, "format is 'other'"),
        ({"num_nodes": -1}, "-1 is not a count"),
        ({"num_nodes": 61}, "rows end at 60"),
        ({"parts": []}, "rows end at 0"),
        ({"labels": {"file": "../labels", "sha256": "0" * 64}}, "plain name"),
        ({"labels": {"file": "labels.int32", "sha256": "x"}}, "not a sha256"),
        ({"classes": 5}, "TypeError"),
    ],
)
def test_wrong_manifests_are_refused_with_the_reason(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    disk = write_disk_graph(random_graph(), tmp_path / "g.disk")
    path = disk.folder / MANIFEST
    _forge(path, json.loads(path.read_text()) | change)
    with pytest.raises(InputError, match=re.escape(told)):
        DiskGraph.open(disk.folder)


@pytest.mark.parametrize(
    ("suffix", "dtype", "number"),
    [
        ("indices", "<u4", 10**6),
        ("indptr", "<i8", 10**9),
        ("indptr", "<i8", -1),
        ("int32", "<i4", 7),
        ("f32", "<f4", np.nan),
    ],
)
def test_numbers_that_cannot_be_are_refused_even_with_the_right_checksums(
    tmp_path: Path, suffix: str, dtype: str, number: float
) -> None:
    """Compiled code would read beyond its arrays."""
    disk = write_disk_graph(random_graph(), tmp_path / "g.disk")
    path = next(disk.folder.glob(f"*.{suffix}"))
    values = np.fromfile(path, dtype)
    values[3] = number
    before = file_sha256(path)
    path.write_bytes(values.tobytes())
    manifest = disk.folder / MANIFEST
    text = manifest.read_text().replace(before, file_sha256(path))
    _forge(manifest, json.loads(text))
    forged = DiskGraph.open(disk.folder)
    forged.check()
    with pytest.raises(InputError, match=f"{path.name} is damaged"):
        forged.to_graph()


def _forge(path: Path, values: dict[str, object]) -> None:
    """Write a manifest as one who knows its checksum."""
    values["sha256"] = _own_sha256(values)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_features_beyond_the_type_are_refused_by_name(tmp_path: Path, dtype: str) -> None:
    features = np.ones((60, 2))
    features[7, 1] = 1e39
    graph = Graph.from_edges([0], [1], num_nodes=60, features=features)
    with pytest.raises(InputError, match=r"feature_1.*1e\+39.*float32"):
        write_disk_graph(graph, tmp_path / "g.disk", dtype=dtype)
    assert not list(tmp_path.iterdir())


def test_what_a_folder_cannot_hold_is_refused(tmp_path: Path) -> None:
    weighted = Graph.from_edges([0], [1], weight=[2.0])
    loops = Graph.from_edges([0, 0], [0, 1], self_loops="keep")
    with pytest.raises(InputError, match="weighted"):
        write_disk_graph(weighted, tmp_path / "g.disk")
    with pytest.raises(InputError, match="self loops"):
        write_disk_graph(loops, tmp_path / "g.disk")
    with pytest.raises(InputError, match="exists"):
        write_disk_graph(random_graph(), tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        write_disk_graph(random_graph(), tmp_path / "no" / "g.disk")
    with pytest.raises(InputError, match="dtype"):
        write_disk_graph(random_graph(), tmp_path / "g.disk", dtype="float64")
    assert not list(tmp_path.iterdir())


def test_unfinished_folder_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "g.disk").mkdir()
    with pytest.raises(InputError, match="run the same convert command again"):
        DiskGraph.open(tmp_path / "g.disk")
    with pytest.raises(InputError, match="no such folder"):
        DiskGraph.open(tmp_path / "other.disk")


def sparse_graph() -> Graph:
    rng = np.random.default_rng(0)
    words = sp.random_array((60, 40), density=0.1, rng=rng, dtype=np.float32, format="csr")
    return Graph.from_edges(
        *rng.integers(0, 60, (2, 200)), num_nodes=60, features=words, labels=np.arange(60) % 3
    )


def test_sparse_features_stay_sparse_and_are_read_back(tmp_path: Path) -> None:
    graph = sparse_graph()
    disk = write_disk_graph(graph, tmp_path / "g.disk")
    disk.check()
    assert same_content(disk.to_graph(), graph)
    read = np.hstack([panel.read(np.array([5, 3, 3])) for panel in disk.panels])
    np.testing.assert_array_equal(read, graph.features[[5, 3, 3]].toarray())
    assert json.loads((disk.folder / MANIFEST).read_text())["version"] == 2
    assert disk.stored_per_node < disk.num_features
    half = write_disk_graph(graph, tmp_path / "h.disk", dtype="bfloat16")
    assert half.sparse_features is None
    assert len(half.panels) == 3


@pytest.mark.parametrize("name", ["x.indptr", "x.indices", "x.values"])
def test_a_damaged_file_of_sparse_features_is_named(tmp_path: Path, name: str) -> None:
    folder = write_disk_graph(sparse_graph(), tmp_path / "g.disk").folder
    content = bytearray((folder / name).read_bytes())
    content[9] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=re.escape(name)):
        _ = DiskGraph.open(folder).sparse_features


@pytest.mark.parametrize(
    "change", [{"num_entries": -1}, {"num_entries": 10**9}, {"indices": {"file": "../x"}}]
)
def test_wrong_sparse_features_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    folder = write_disk_graph(sparse_graph(), tmp_path / "g.disk").folder
    values = json.loads((folder / MANIFEST).read_text())
    values["features"]["sparse"] |= change
    _forge(folder / MANIFEST, values)
    with pytest.raises(InputError):
        DiskGraph.open(folder)
