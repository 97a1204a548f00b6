"""Channels beyond memory: time, memory and equality, beside SciPy and measured bandwidth.

    python benchmarks/speed/scale_channels.py                      # 1e8 edges x 64 columns
    python benchmarks/speed/scale_channels.py --edges 1e9 --columns 16 --dtype bfloat16 --no-rival --diagnose
    python benchmarks/speed/scale_channels.py --edges 1e7 --quick

Tables of a uniform random graph are drawn and converted; the channel low-1 is computed out of core
in a process of its own (its peak memory is the kernel's high-water mark). Beside it: the same
product in memory, SciPy on one core for a part of the rows, rows gathered from random places by the
same kernel, and a file copied to the disk. Files are removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from heterophily.channels.operator import WIDEST, WIDEST_IN_MEMORY, StreamedOperator, padded
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.channels.rows import usable_threads
from heterophily.cli.app import main as heterophily
from heterophily.data.disk.convert.convert import convert_tables
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.synthetic.stream import StreamedGraph
from heterophily.native.panels import panel_product
from heterophily.native.sampler import CsrParts

ROWS = 1 << 18
MEMORY = "2GB"  # of the conversion


def draw_tables(place: Path, edges: int, columns: int) -> None:
    """Draw tables of so many edges between a tenth as many nodes."""
    plan = StreamedGraph(edges // 10, edges, homophily=0.3, features=columns)
    plan.write(place / "edges.parquet", place / "nodes.parquet", threads=usable_threads())


def convert(place: Path, dtype: str = "float32") -> DiskGraph:
    """Convert the tables in a folder and remove them."""
    tables = place / "edges.parquet", place / "nodes.parquet"
    try:
        return convert_tables(*tables, place / "g.disk", memory=MEMORY, dtype=dtype)
    finally:
        for table in tables:
            table.unlink(missing_ok=True)


def spent(part: str, *words: str) -> dict[str, float]:
    """Run a part of this script in a process of its own; return what it took."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, __file__, "--part", part, *words])
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{part} failed")
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_gb": round(used.ru_maxrss / 2**20, 2),
    }


def timed(work: object) -> tuple[float, float]:
    """Run a function; return wall seconds and CPU seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    work()  # type: ignore[operator]
    return time.perf_counter() - start, time.process_time() - cpu


def gather_seconds(nodes: int, width: int, entries: int, threads: int) -> float:
    """Return how long this machine takes to add so many rows from random places of a panel.

    The kernel of the product on rows of 32 random neighbours: the bound of any product whose panel
    is not in the cache.
    """
    rng = np.random.default_rng(1)
    panel, draws = padded(nodes, width), min(entries, 5 * 10**7) // 32 * 32
    panel[:] = 1.0  # or all of it is one page of zeros
    indices = rng.integers(0, nodes, draws, dtype=np.uint32)
    indptr = np.arange(0, draws + 1, 32)
    out = np.ones((indptr.size - 1, width), np.float32)
    left = np.ones(indptr.size - 1)
    wall, _ = timed(
        lambda: panel_product(0, indptr, indices, left, panel, out, has_loop=False, threads=threads)
    )
    return wall * entries / draws


def copy_rate(source: Path, place: Path) -> float:
    """Return the bytes a second at which a file is read and written to the disk."""
    target = place / "copy"

    def copy() -> None:
        with open(source, "rb") as read, open(target, "wb") as written:
            shutil.copyfileobj(read, written, 1 << 24)
            os.fsync(written.fileno())

    wall, _ = timed(copy)
    target.unlink()
    return 2 * source.stat().st_size / wall


def in_memory(graph: DiskGraph) -> CsrParts:
    """Read the rows of a graph on disk into memory."""
    return CsrParts(
        np.array([*(part.first for part in graph.parts), graph.num_nodes], np.int64),
        [np.array(part.indptr) for part in graph.parts],
        [np.array(part.indices) for part in graph.parts],
    )


def beside_scipy(graph: DiskGraph, columns: int, threads: int) -> dict[str, object]:
    """Multiply in memory and by SciPy; return times, their ratio, and the largest difference."""
    parts, nodes, entries = in_memory(graph), graph.num_nodes, graph.num_entries
    width = min(columns, WIDEST_IN_MEMORY)
    panel = padded(nodes, width)
    used = [number for number, each in enumerate(graph.panels) if each.columns[1] <= width]
    for at in range(0, nodes, ROWS):
        rows = slice(at, min(at + ROWS, nodes))
        for number in used:
            panel[rows, slice(*graph.panels[number].columns)] = graph.panels[number].read(rows)
    found = np.ones((nodes, width), np.float32)

    def multiply() -> None:
        for first, rows in StreamedOperator(parts).product(panel, width, threads=threads):
            found[first : first + len(rows)] = rows

    ours, ours_cpu = min(timed(multiply) for _ in range(2))
    bound = gather_seconds(nodes, width, entries, threads)
    some = min(parts.indptr[0].size - 1, nodes // 4)
    indptr = parts.indptr[0][: some + 1]
    matrix = sp.csr_array(
        (np.ones(indptr[-1], np.float32), parts.indices[0][: indptr[-1]].astype(np.int32), indptr),
        shape=(some, nodes),
    )
    x = panel[:, :width] if panel.shape[1] == width else np.ascontiguousarray(panel[:, :width])
    theirs = np.zeros(0)

    def by_scipy() -> None:
        nonlocal theirs
        theirs = matrix @ x

    scipy, scipy_cpu = (value * entries / indptr[-1] for value in timed(by_scipy))
    few = slice(0, min(some, 10**6))
    exact = theirs[few].astype(np.float64) + x[few]
    expected = exact / (np.diff(indptr)[few, None] + 1)
    return {
        "in_memory_seconds": round(ours, 2),
        "in_memory_cpu_seconds": round(ours_cpu, 2),
        "gather_seconds": round(bound, 2),
        "scipy_seconds": round(scipy, 2),
        "scipy_cpu_seconds": round(scipy_cpu, 2),
        "times_scipy": round(scipy / ours, 2),
        "times_scipy_by_cpu": round(scipy_cpu / ours_cpu, 2),
        "times_bound": round(ours / bound, 2),
        "largest_difference": float(np.abs(found[few] - expected).max()),
    }


def run(edges: int, told: argparse.Namespace, place: Path) -> dict[str, object]:
    """Measure one size."""
    nodes, columns, threads = edges // 10, told.columns, usable_threads()
    size = ["--edges", str(edges), "--columns", str(columns), "--folder", str(place)]
    size += ["--dtype", told.dtype]
    found: dict[str, object] = {"edges": edges, "columns": columns, "cores": threads}
    found["dtype"] = told.dtype
    for step in ("draw", "convert"):
        found[step] = spent(step, *size)
        print(step, found[step], file=sys.stderr, flush=True)
    graph = DiskGraph.open(place / "g.disk")
    found["out_of_core"] = streamed = spent("channels", *size)
    if told.diagnose:
        found["diagnose"] = spent("diagnose", *size)
    panels = len(graph.panels)
    gather = panels * gather_seconds(nodes, min(columns, WIDEST), graph.num_entries, threads)
    moved = panels * (4 * graph.num_entries + 8 * nodes) + 2 * 4 * nodes * columns
    disk = moved / copy_rate(next((place / "g.disk").glob("out-00000.indices")), place)
    found["out_of_core_bound"] = {"gather": round(gather, 1), "disk": round(disk, 1)}
    found["times_out_of_core_bound"] = round(streamed["seconds"] / (gather + disk), 2)
    if not told.no_rival:
        found |= beside_scipy(graph, columns, threads)
    return found


def part(told: argparse.Namespace) -> None:
    """Do what the main process measures."""
    if told.part == "draw":
        draw_tables(told.folder, int(told.edges), told.columns)
    elif told.part == "convert":
        convert(told.folder, told.dtype)
    elif told.part == "diagnose":
        words = ["diagnose", str(told.folder / "g.disk"), "--memory", "4GB", "--no-report"]
        if heterophily(words):
            raise SystemExit(1)
    else:
        compute_channels(DiskGraph.open(told.folder / "g.disk"), ChannelRecipe(features="as-given"))


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--dtype", default="float32", help="of the features on disk, or bfloat16")
    parser.add_argument("--folder", type=Path, default=None, help="where the graph is written")
    parser.add_argument("--quick", action="store_true", help="1e6 edges")
    parser.add_argument("--diagnose", action="store_true", help="the graph on disk too, in 4 GB")
    parser.add_argument("--no-rival", action="store_true", help="out of core alone")
    parser.add_argument("--record", type=Path, default=None, help="add a line to this file")
    parser.add_argument("--part", default=None, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.part is not None:
        part(told)
        return 0
    place = Path(tempfile.mkdtemp(dir=told.folder))
    try:
        line = json.dumps(run(int(1e6 if told.quick else told.edges), told, place))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(line)
    if told.record is not None:
        with open(told.record, "a", encoding="utf-8") as stream:
            stream.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
