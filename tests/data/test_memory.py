"""Small files that ask for much memory or time are refused with a sentence before they get it."""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterophily import Graph
from heterophily.cli.app import main
from heterophily.data.memory import limit, memory_limit
from heterophily.data.npz import read_npz
from heterophily.data.tables import read_tables
from heterophily.errors import InputError

LIMIT = 3 * 2**29  # bytes that a process may take in all; importing takes a third of it


def refused(*arguments: str, folder: Path) -> str:
    """Run ``convert`` with little memory; return the sentence with which it refuses."""
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))\n"
        "from heterophily.cli.app import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "convert", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: "), done.stderr
    assert "not enough memory" not in done.stderr  # it was foreseen
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    return tmp_path


def test_a_number_of_nodes_alone_does_not_allocate_them(folder: Path) -> None:
    np.savez(folder / "g.npz", edge_index=[[0], [1]], num_nodes=400_000_000)
    assert (folder / "g.npz").stat().st_size < 600
    assert "says 400,000,000 nodes, but the file holds 1 edges" in refused("g.npz", folder=folder)


def test_packed_text_that_explodes_is_refused_while_it_is_unpacked(folder: Path) -> None:
    member = gzip.compress(b"a,b\n" * 2_500_000)
    with (folder / "e.csv.gz").open("wb") as file:
        for _ in range(200):  # 2 GB
            file.write(member)
    assert "times as many; the file is refused" in refused("--edges", "e.csv.gz", folder=folder)


def test_one_long_id_among_many_short_ones_is_refused(folder: Path) -> None:
    rows = [f"n{k},n{k + 1}" for k in range(400_000)] + ["n0," + "x" * 1000]
    (folder / "e.csv").write_text("source,target\n" + "\n".join(rows) + "\n")
    assert "one node id has 1,000 characters" in refused("--edges", "e.csv", folder=folder)


def test_parquet_of_equal_rows_is_refused_by_its_declaration(folder: Path) -> None:
    rows = pa.table({name: pa.array(np.zeros(10_000_000, np.int64)) for name in ("source", "to")})
    with pq.ParquetWriter(folder / "e.parquet", rows.schema) as writer:
        for _ in range(8):
            writer.write_table(rows)
    sentence = refused("--edges", "e.parquet", folder=folder)
    assert "times as many; the file is refused" in sentence


@pytest.mark.parametrize("text", ['source,"target\n', 'source,target\n"a,b\n'])
def test_an_unclosed_quote_is_found_in_linear_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(text + "a,b\n" * 1_000_000)
    start = time.process_time()
    with pytest.raises(InputError, match="opened and never closed"):
        read_tables(path)
    assert time.process_time() - start < 10


def test_a_cell_of_many_digits_is_judged_in_linear_time(tmp_path: Path) -> None:
    for text in ("9" * 100_000 + "x", "9" * 100_000, "1." + "9" * 100_000 + "."):
        (tmp_path / "e.csv").write_text(f"source,target,weight\na,b,1\na,c,{text}\n")
        start = time.process_time()
        with pytest.raises(InputError, match="weight"):
            read_tables(tmp_path / "e.csv")
        assert time.process_time() - start < 2


def test_cells_longer_than_the_csv_module_takes_end_in_a_sentence(tmp_path: Path) -> None:
    path, cell = tmp_path / "e.csv", "x" * 200_000
    for text in (
        f"source,{cell}\na,b\n",
        f"source,target\na,{cell}\n",
        f"source,target,weight\na,b,{cell}\n",
        f"source,target,weight\na,b,1\n{cell},b,\n",
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=r"e\.csv, "):
            read_tables(path)


def test_the_limit_is_that_of_the_block_then_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETEROPHILY_MEMORY", "2 GB")
    assert limit() == 2**31
    with memory_limit(100), memory_limit("3MB"):
        assert limit() == 3 * 2**20
    monkeypatch.setenv("HETEROPHILY_MEMORY", "much")
    with pytest.raises(InputError, match="HETEROPHILY_MEMORY is a size such as 8GB, not 'much'"):
        limit()
    monkeypatch.delenv("HETEROPHILY_MEMORY")
    assert limit() > 2**20
    with memory_limit("80 MB"), pytest.raises(InputError, match=r"needs about 228\.9 MB"):
        Graph.from_edges([0], [1], num_nodes=10_000_000)
    np.savez(
        tmp_path / "g.npz", edge_index=[[0], [1]], x=np.random.default_rng(0).random((9, 10**6))
    )
    with memory_limit("64 MB"), pytest.raises(InputError, match="its arrays of 72,"):
        read_npz(tmp_path / "g.npz")


@pytest.mark.parametrize("given", ["karate", "--edges e.csv", "--edges e.csv --nodes n.csv"])
def test_a_tiny_limit_holds_for_a_tiny_graph(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{at},{at + 1}" for at in range(60)]
    (tmp_path / "e.csv").write_text("source,target\n" + "\n".join(rows) + "\n")
    ids = [f"{at},{at % 2}" for at in range(61)]
    (tmp_path / "n.csv").write_text("id,label\n" + "\n".join(ids) + "\n")
    for command in ("diagnose", "convert"):
        assert main([command, *given.split(), "--memory", "1KB"]) == 2
        told = capsys.readouterr().err
        assert "of memory, the limit is 1.0 KB" in told
        assert "constraints" not in told
    assert main(["convert", *given.split(), "--memory", "1MB"]) == 0


def test_a_sentence_on_memory_names_a_limit_that_suffices() -> None:
    with memory_limit("1KB"), pytest.raises(InputError, match="--memory 4KB"):
        Graph.from_edges([0], [1], num_nodes=128)
    with memory_limit("4KB"):
        assert Graph.from_edges([0], [1], num_nodes=128).num_edges == 1


def test_reading_stays_within_what_it_says(tmp_path: Path) -> None:
    """The estimate of a graph is not below what building it takes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with memory_limit("260 MB"):  # 24 bytes for a node, 40 for an edge
        edges = np.random.default_rng(0).integers(0, 1_000_000, (2, 5_000_000), dtype=np.int32)
        graph = Graph.from_edges(*edges, num_nodes=1_000_000)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert graph.num_nodes == 1_000_000
    assert grown < 2 * 260 * 2**20
