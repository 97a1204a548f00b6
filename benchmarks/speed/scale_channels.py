"""Channels beyond memory: time, memory and equality, beside SciPy and measured bandwidth.

    python benchmarks/speed/scale_channels.py                      # 1e8 edges x 64 columns
    python benchmarks/speed/scale_channels.py --edges 1e9 --columns 16 --no-rival --diagnose --keep FOLDER
    python benchmarks/speed/scale_channels.py --graph g.disk       # in memory alone, beside SciPy
    python benchmarks/speed/scale_channels.py --quick

Tables of a uniform random graph are drawn and converted; the channel low-1 is computed out of core
in a process of its own (its peak memory is the kernel's high-water mark). Beside it: the same
product in memory, SciPy on one core for a part of the rows, rows gathered from random places by the
same kernel, and a file copied to the disk. Files are removed at the end.

With ``--keep FOLDER`` files stay, and the same command goes on after the last step that finished
(``--until convert`` stops there): hours of work need not be one run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import (
    Spent,
    apart,
    best,
    count,
    heterophily,
    interleaved,
    machine,
    parser,
    read_json,
    tell,
    write_json,
)  # fmt: skip

if TYPE_CHECKING:
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.native.sampler import CsrParts

ROWS = 1 << 18
MEMORY = "2GB"  # of the conversion


def draw_tables(place: Path, edges: int, columns: int) -> None:
    """Draw tables of so many edges between a tenth as many nodes."""
    from heterophily.channels.rows import usable_threads
    from heterophily.data.synthetic.stream import StreamedGraph

    plan = StreamedGraph(edges // 10, edges, homophily=0.3, features=columns)
    plan.write(place / "edges.parquet", place / "nodes.parquet", threads=usable_threads())


def convert(place: Path, dtype: str = "float32") -> Path:
    """Convert the tables in a folder; return the graph."""
    from heterophily.data.disk.convert.convert import convert_tables

    tables = place / "edges.parquet", place / "nodes.parquet"
    convert_tables(*tables, place / "g.disk", memory=MEMORY, dtype=dtype)
    return place / "g.disk"


def compute(folder: Path) -> None:
    """Compute the channel low-1 of a graph on disk."""
    from heterophily.channels.precompute import compute_channels
    from heterophily.channels.recipe import ChannelRecipe
    from heterophily.data.disk.graph import DiskGraph

    compute_channels(DiskGraph.open(folder), ChannelRecipe(features="as-given"))


def gather_seconds(nodes: int, width: int, entries: int, threads: int) -> float:
    """Return how long this machine takes to add so many rows from random places of a panel.

    The kernel of the product on rows of 32 random neighbours: the bound of any product whose panel
    is not in the cache.
    """
    from heterophily.channels.operator import padded
    from heterophily.native.panels import panel_product

    rng = np.random.default_rng(1)
    panel, draws = padded(nodes, width), min(entries, 5 * 10**7) // 32 * 32
    panel[:] = 1.0  # or all of it is one page of zeros
    indices = rng.integers(0, nodes, draws, dtype=np.uint32)
    indptr = np.arange(0, draws + 1, 32)
    out = np.ones((indptr.size - 1, width), np.float32)
    left = np.ones(indptr.size - 1)
    spent = Spent.on(
        lambda: panel_product(0, indptr, indices, left, panel, out, has_loop=False, threads=threads)
    )
    return spent.wall * entries / draws


def copy_rate(source: Path, place: Path) -> float:
    """Return the bytes a second at which a file is read and written to the disk."""
    target = place / "copy"

    def copy() -> None:
        with open(source, "rb") as read, open(target, "wb") as written:
            shutil.copyfileobj(read, written, 1 << 24)
            os.fsync(written.fileno())

    spent = Spent.on(copy)
    target.unlink()
    return 2 * source.stat().st_size / spent.wall


def in_memory(graph: DiskGraph) -> CsrParts:
    """Read the rows of a graph on disk into memory."""
    from heterophily.native.sampler import CsrParts

    return CsrParts(
        np.array([*(part.first for part in graph.parts), graph.num_nodes], np.int64),
        [np.array(part.indptr) for part in graph.parts],
        [np.array(part.indices) for part in graph.parts],
    )


def beside_scipy(graph: DiskGraph, columns: int, threads: int) -> dict[str, Any]:
    """Multiply in memory and by SciPy; return times, their ratio, and the largest difference."""
    import scipy.sparse as sp

    from heterophily.channels.operator import WIDEST_IN_MEMORY, StreamedOperator, padded

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

    ours = best(interleaved({"ours": multiply}, 2, warm=False)["ours"])
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

    scipy = Spent.on(by_scipy).less(Spent(0.0, 0.0), by=indptr[-1] / entries)
    few = slice(0, min(some, 10**6))
    exact = theirs[few].astype(np.float64) + x[few]
    expected = exact / (np.diff(indptr)[few, None] + 1)
    return {
        "in_memory_seconds": round(ours.wall, 2),
        "in_memory_cpu_seconds": round(ours.cpu, 2),
        "gather_seconds": round(bound, 2),
        "scipy_seconds": round(scipy.wall, 2),
        "scipy_cpu_seconds": round(scipy.cpu, 2),
        "times_scipy": round(scipy.wall / ours.wall, 2),
        "times_scipy_by_cpu": round(scipy.cpu / ours.cpu, 2),
        "times_bound": round(ours.wall / bound, 2),
        "largest_difference": float(np.abs(found[few] - expected).max()),
    }


def step(place: Path, name: str, work: Callable[..., Any], *given: Any) -> dict[str, Any]:
    """Do a step in a process of its own, once: what it took stays beside the files.

    ``starts`` is more than 1 when the step was interrupted: its numbers are those of the last turn.
    """
    record = place / "steps.json"
    done: dict[str, dict[str, Any]] = read_json(record) if record.is_file() else {}
    before = done.get(name, {})
    if "seconds" not in before:
        done[name] = {"starts": before.get("starts", 0) + 1}
        write_json(record, done)
        done[name] = apart(work, *given).facts() | done[name]
        write_json(record, done)
    return done[name]


def run(given: Any, place: Path) -> dict[str, Any]:
    """Measure one size."""
    edges, columns, disk_graph = given.edges, given.columns, place / "g.disk"
    found: dict[str, Any] = {"edges": edges, "columns": columns, "dtype": given.dtype}
    found["draw"] = step(place, "draw", draw_tables, place, edges, columns)
    if given.until == "draw":
        return found
    found["convert"] = step(place, "convert", convert, place, given.dtype)
    for table in ("edges", "nodes"):
        (place / f"{table}.parquet").unlink(missing_ok=True)
    if given.until == "convert":
        return found
    found["out_of_core"] = step(place, "channels", compute, disk_graph)
    from heterophily.channels.operator import WIDEST
    from heterophily.channels.rows import usable_threads
    from heterophily.data.disk.graph import DiskGraph

    graph, nodes, threads = DiskGraph.open(disk_graph), edges // 10, usable_threads()
    panels = len(graph.panels)
    gather = panels * gather_seconds(nodes, min(columns, WIDEST), graph.num_entries, threads)
    moved = panels * (4 * graph.num_entries + 8 * nodes) + 2 * 4 * nodes * columns
    disk = moved / copy_rate(next(disk_graph.glob("out-00000.indices")), place)
    found |= {
        "cores": threads,
        "out_of_core_bound": {"gather": round(gather, 1), "disk": round(disk, 1)},
        "times_out_of_core_bound": round(found["out_of_core"]["seconds"] / (gather + disk), 2),
        "machine": machine(),
    }
    if given.diagnose:
        words = ("diagnose", disk_graph, "--memory", "4GB", "--no-report")
        found["diagnose"] = step(place, "diagnose", heterophily, *words)
    return found | ({} if given.no_rival else beside_scipy(graph, columns, threads))


def of_graph(folder: Path) -> dict[str, Any]:
    """Measure the product in memory on a graph that is there."""
    from heterophily.channels.rows import usable_threads
    from heterophily.data.disk.graph import DiskGraph

    graph, threads = DiskGraph.open(folder), usable_threads()
    columns = sum(panel.columns[1] - panel.columns[0] for panel in graph.panels)
    facts = {"edges": graph.num_edges, "columns": columns, "cores": threads, "machine": machine()}
    return facts | beside_scipy(graph, columns, threads)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--edges", type=count, default=10**8)
    options.add_argument("--columns", type=int, default=64)
    options.add_argument("--dtype", default="float32", help="of the features on disk, or bfloat16")
    options.add_argument("--folder", type=Path, default=None, help="where the graph is written")
    options.add_argument("--keep", type=Path, help="write into this folder and keep it")
    options.add_argument("--until", choices=["draw", "convert"], help="stop after this step")
    options.add_argument("--diagnose", action="store_true", help="the graph on disk too, in 4 GB")
    options.add_argument("--graph", type=Path, help="a graph on disk: in memory, beside SciPy")
    options.add_argument("--no-rival", action="store_true", help="out of core alone")
    options.add_argument("--record", type=Path, default=None, help="add a line to this file")
    given = options.parse_args()
    if given.quick:
        given.edges, given.columns = 20_000, 8
    if given.graph is not None:
        tell(of_graph(given.graph), given.record)
        return
    with contextlib.ExitStack() as stack:
        if given.keep is None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.folder)))
        else:
            place = given.keep
            place.mkdir(parents=True, exist_ok=True)
        found = run(given, place)
    tell(found, None if given.quick or given.until else given.record)


if __name__ == "__main__":
    main()
