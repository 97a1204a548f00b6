"""Tables converted on disk are the graph that reading them in memory gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from heterophily import Graph, read_tables
from heterophily.data.disk.convert.convert import Budget, convert_tables
from heterophily.data.disk.convert.edge_batches import BigTable
from heterophily.data.disk.graph import DiskGraph
from heterophily.errors import InputError, MemoryLimitError

TINY = Budget(run_rows=97, sorted_keys=60, part_keys=200)


def write(table: Any, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=41)
    else:
        pa_csv.write_csv(table, path)
    return path


def tables(
    folder: Path,
    *,
    num_nodes: int = 83,
    num_edges: int = 700,
    ids: Any = None,
    hub: bool = False,
    suffix: str = ".parquet",
    seed: int = 0,
) -> tuple[Path, Path]:
    """Write an edge table with loops and duplicates, and a node table with missing labels."""
    rng = np.random.default_rng(seed)
    names = np.arange(num_nodes) if ids is None else np.asarray(ids)
    ends = rng.integers(0, num_nodes, (2, num_edges))
    ends[:, 5], ends[:, 7] = ends[:, 3], ends[::-1, 3]
    if hub:
        ends[0, 50:] = 17
    labels = [None if k % 9 == 0 else "abc"[k % 3] for k in range(num_nodes)]
    nodes = pa.table(
        {
            "id": names,
            "label": labels,
            "age": rng.normal(40, 9, num_nodes).round(1),
            "city": rng.choice(["Rome", "Oslo", "Lima"], num_nodes),
        }
    )
    edges = pa.table({"source": names[ends[0]], "target": names[ends[1]]})
    return write(edges, folder / f"edges{suffix}"), write(nodes, folder / f"nodes{suffix}")


def assert_same(disk: DiskGraph, graph: Graph) -> None:
    disk.check()
    found = disk.to_graph()
    assert found.feature_names == graph.feature_names
    np.testing.assert_array_equal(found.labels, graph.labels)
    assert found.class_names == graph.class_names
    np.testing.assert_array_equal(found.node_ids.astype(str), graph.node_ids.astype(str))
    assert (found.adjacency != graph.adjacency).nnz == 0
    features: Any = graph.features
    np.testing.assert_allclose(
        found.features, features.toarray() if hasattr(features, "toarray") else features, rtol=1e-6
    )


@pytest.mark.parametrize("budget", [None, TINY])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("is_directed", [False, True])
def test_conversion_equals_reading_in_memory(
    tmp_path: Path, budget: Budget | None, suffix: str, is_directed: bool
) -> None:
    edges, nodes = tables(tmp_path, suffix=suffix)
    disk = convert_tables(edges, nodes, tmp_path / "g", budget=budget, is_directed=is_directed)
    assert_same(disk, read_tables(edges, nodes, direction="keep" if is_directed else "drop"))
    assert not (tmp_path / "g" / ".work").exists()


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(83)[::-1] * 2 + 1_000_000_007,
        np.arange(83) * 10**15 - 5 * 10**16,
        np.array([f"näme {k % 10} {k}" for k in range(83)]),
    ],
    ids=["narrow", "wide", "words"],
)
def test_ids_that_are_not_node_numbers_are_mapped(tmp_path: Path, ids: Any) -> None:
    edges, nodes = tables(tmp_path, ids=ids)
    disk = convert_tables(edges, nodes, tmp_path / "g", budget=TINY)
    assert_same(disk, read_tables(edges, nodes))


def test_hub_larger_than_memory_is_sorted_in_ranges(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path, hub=True, num_edges=5_000)
    disk = convert_tables(edges, nodes, tmp_path / "g", budget=TINY)
    assert_same(disk, read_tables(edges, nodes))


def test_one_edge_repeated_more_often_than_memory_holds_is_stored_once(tmp_path: Path) -> None:
    ends = np.tile([[2], [5]], 3_000)
    write(pa.table({"source": ends[0], "target": ends[1]}), tmp_path / "edges.parquet")
    disk = convert_tables(tmp_path / "edges.parquet", None, tmp_path / "g", budget=TINY)
    assert (disk.num_nodes, disk.num_edges) == (6, 1)
    assert disk.manifest.notes["duplicates"] == 2_999


def test_result_does_not_depend_on_threads_or_sizes_of_runs(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path, num_nodes=3_000, num_edges=9_000)
    found = [
        convert_tables(edges, nodes, tmp_path / f"g{k}", budget=budget, threads=threads)
        for k, (threads, budget) in enumerate(
            [
                (1, Budget(10_000, 10_000, 4_000)),
                (2, Budget(10_000, 10_000, 4_000)),
                (3, Budget(500, 70, 4_000)),
            ]
        )
    ]
    manifests = {(graph.manifest.parts, graph.manifest.labels) for graph in found}
    assert len(manifests) == 1
    assert len(found[0].parts) > 3


def test_numpy_without_the_native_library_gives_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, nodes = tables(tmp_path)
    native = convert_tables(edges, nodes, tmp_path / "a", budget=TINY)
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", "none")
    plain = convert_tables(edges, nodes, tmp_path / "b", budget=TINY)
    assert plain.manifest == native.manifest


def test_loops_and_duplicates_are_counted(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n0,1\n1,0\n0,1\n2,2\n1,2\n")
    disk = convert_tables(edges, None, tmp_path / "g")
    notes = {"rows": 5, "self_loops": 1, "duplicates": 2}
    assert dict(disk.manifest.notes) == notes
    assert [part.indices.tolist() for part in disk.parts] == [[1, 0, 2, 1]]


def test_bfloat16_halves_the_panels(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)
    disk = convert_tables(edges, nodes, tmp_path / "g", dtype="bfloat16")
    graph: Any = read_tables(edges, nodes).features
    dense = graph.toarray() if hasattr(graph, "toarray") else graph
    np.testing.assert_allclose(disk.panels[0].read(), dense, rtol=2.0**-8)
    assert (disk.folder / "x-000.bf16").stat().st_size == 2 * dense.size


@pytest.mark.parametrize(
    ("edges", "nodes", "told"),
    [
        ("source,target\n0,7\n", "id,y\n0,a\n1,b\n", "node 7 is not in the node table"),
        ("source,target\n0,-1\n", "id,y\n0,a\n1,b\n", "node -1 is not in the node table"),
        ("source,target\na,x\n", "id,y\na,a\nb,b\n", "node 'x' is not in nodes.csv"),
        ("source,target\n0,1\n", "id,y\n5,a\n5,b\n", "node id 5 occurs more than once"),
        ("source,target\na,b\n", "id,y\na,a\na,b\n", "node id 'a' occurs more than once"),
        ("source,target\n0,1\n0,\n", "id,y\n0,a\n1,b\n", "'target', data row 2: empty id"),
        ("source,target\n0,1\n0,1.5\n", "id,y\n0,a\n1,b\n", "data row 2: 1.5 is not the id"),
        ("source,target\na,b\n", None, "need a node table"),
        ("source,target\n0,1\n", "id,y\n", "has no row"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence_and_leave_no_folder(
    tmp_path: Path, edges: str, nodes: str | None, told: str
) -> None:
    (tmp_path / "edges.csv").write_text(edges)
    if nodes is not None:
        (tmp_path / "nodes.csv").write_text(nodes)
    with pytest.raises(InputError, match=told):
        convert_tables(
            tmp_path / "edges.csv",
            None if nodes is None else tmp_path / "nodes.csv",
            tmp_path / "g",
        )
    assert not (tmp_path / "g").exists()


def test_ids_that_are_whole_numbers_in_columns_of_floats_are_those_numbers(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)
    whole = convert_tables(edges, nodes, tmp_path / "a")
    held = pq.read_table(edges)
    floats = pa.table({name: held[name].cast(pa.float64()) for name in held.column_names})
    found = convert_tables(write(floats, tmp_path / "f.parquet"), nodes, tmp_path / "b")
    np.testing.assert_array_equal(found.parts[0].indices, whole.parts[0].indices)


def test_rows_are_read_a_few_groups_at_a_time(tmp_path: Path) -> None:
    """Arrow keeps what it has read until an iteration ends: 60 MB here, were it only one."""
    columns = {f"f{k}": np.arange(500_000, dtype=np.float32) for k in range(30)}
    pq.write_table(
        pa.table(columns), tmp_path / "t.parquet", row_group_size=10_000, compression="none"
    )
    before = pa.total_allocated_bytes()
    for _ in BigTable(tmp_path / "t.parquet").batches(list(columns), rows=20_000):
        assert pa.total_allocated_bytes() - before < 15e6


def test_a_row_group_larger_than_memory_is_refused_before_the_work(tmp_path: Path) -> None:
    edges, _ = tables(tmp_path)
    wide = {"id": np.arange(83), **{f"f{k}": np.full(83, k % 7) for k in range(9)}}
    pq.write_table(pa.table(wide), tmp_path / "n.parquet")
    with (
        mock.patch.object(BigTable, "largest_group", return_value=400 * 2**20),
        pytest.raises(MemoryLimitError, match=r"has a row group of 400\.0 MB"),
    ):
        convert_tables(edges, tmp_path / "n.parquet", tmp_path / "g", memory="500MB")
    assert not (tmp_path / "g").exists()
    assert BigTable(tmp_path / "n.parquet").largest_group(["f1"]) > 0


def test_too_small_a_disk_is_said_before_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    edges, nodes = tables(tmp_path)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(InputError, match=r"needs about [0-9.]+ [KM]B while it is written"):
        convert_tables(edges, nodes, tmp_path / "g")
    assert not (tmp_path / "g").exists()


def test_conversion_goes_on_after_an_error_and_gives_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, nodes = tables(tmp_path)
    whole = convert_tables(edges, nodes, tmp_path / "a", budget=TINY)
    read = []

    class StoppedError(Exception):
        pass

    def tell(stage: str, done: int, total: int) -> None:
        read.append(stage)
        if len(read) in (3, 9, 14, 22):
            raise StoppedError

    for _ in range(5):
        try:
            convert_tables(edges, nodes, tmp_path / "b", budget=TINY, tell=tell)
            break
        except StoppedError:
            with pytest.raises(InputError, match="run the same convert command again"):
                DiskGraph.open(tmp_path / "b")
    again = DiskGraph.open(tmp_path / "b")
    again.check()
    assert again.manifest == whole.manifest


def test_unfinished_conversion_of_another_file_is_refused(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "sorting":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_tables(edges, nodes, tmp_path / "g", budget=TINY, tell=stop)
    other, _ = tables(tmp_path, seed=1)
    with pytest.raises(InputError, match="unfinished conversion of other files"):
        convert_tables(other, nodes, tmp_path / "g", budget=TINY)


def test_a_second_conversion_into_the_same_folder_is_refused_and_disturbs_nothing(
    tmp_path: Path,
) -> None:
    edges, nodes = tables(tmp_path)
    refused = []

    def second(stage: str, done: int, total: int) -> None:
        with pytest.raises(InputError, match="another command is writing") as error:
            convert_tables(edges, nodes, tmp_path / "g", budget=TINY)
        refused.append((stage, str(error.value)))

    found = convert_tables(edges, nodes, tmp_path / "g", budget=TINY, tell=second)
    found.check()
    assert {"node ids", "sorting"} <= {stage for stage, _ in refused}
    alone = convert_tables(edges, nodes, tmp_path / "h", budget=TINY)
    assert found.content_hash == alone.content_hash


def test_a_table_of_any_size_knows_its_columns_and_rows(tmp_path: Path) -> None:
    edges, _ = tables(tmp_path)
    table = BigTable(edges)
    assert (table.columns, table.num_rows) == (["source", "target"], 700)
    with pytest.raises(InputError, match="no such file"):
        BigTable(tmp_path / "none.parquet")
