"""Channels beyond memory: time, memory and equality, beside SciPy and measured bandwidth.

    python benchmarks/speed/scale_channels.py                      # 1e8 edges x 64 columns
    python benchmarks/speed/scale_channels.py --edges 1e7 --quick

A uniform random graph is written as a folder; its channel low-1 is computed out of core in a
process of its own (its peak memory is the kernel's high-water mark), then in memory, then by SciPy
on one core for a part of the rows. Files are removed at the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.channels.operator import StreamedOperator, padded
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.channels.rows import usable_threads
from heterophily.data.disk.files import write_blocks
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import (
    FeatureEntry,
    FileEntry,
    Manifest,
    PanelEntry,
    PartEntry,
    write_manifest,
)

WIDTH = 16


def write_graph(
    folder: Path, edges: int, nodes: int, columns: int, *, classes: int = 5, seed: int = 0
) -> DiskGraph:
    """Write a uniform random graph with about ``edges`` undirected edges and labelled nodes.

    All entries are sorted in memory: about 50 bytes an edge.
    """
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    source = rng.integers(0, nodes, edges, dtype=np.uint32)
    target = rng.integers(0, nodes, edges, dtype=np.uint32)
    entries = np.empty(2 * edges, np.uint64)
    entries[:edges] = source.astype(np.uint64) << np.uint64(32) | target
    entries[edges:] = target.astype(np.uint64) << np.uint64(32) | source
    del source, target
    entries.sort()
    kept = np.ones(entries.size, bool)
    kept[1:] = entries[1:] != entries[:-1]
    rows = (entries >> np.uint64(32)).astype(np.uint32)
    kept &= rows != entries.astype(np.uint32)
    rows = rows[kept]
    indices = entries[kept].astype(np.uint32)
    del entries, kept
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=nodes))]).astype("<i8")
    del rows
    parts = []
    step = 1 << 22
    for number, first in enumerate(range(0, nodes, step)):
        last = min(first + step, nodes)
        begin, end = indptr[first], indptr[last]
        parts.append(
            PartEntry(
                first,
                last,
                write_blocks(
                    folder / f"out-{number:05d}.indptr", [indptr[first : last + 1] - begin]
                ),
                write_blocks(folder / f"out-{number:05d}.indices", [indices[begin:end]]),
            )
        )
    labels = rng.integers(0, classes, nodes).astype("<i4")
    panels = []
    for number, first in enumerate(range(0, columns, WIDTH)):
        last = min(first + WIDTH, columns)
        own = rng.normal(size=(classes, last - first)).astype(np.float32)

        def blocks(own: Any = own, width: int = last - first) -> Any:
            for at in range(0, nodes, 1 << 18):
                part = labels[at : at + (1 << 18)]
                yield own[part] * 0.3 + rng.standard_normal((part.size, width), dtype=np.float32)

        panels.append(
            PanelEntry(first, last, write_blocks(folder / f"x-{number:03d}.f32", blocks()))
        )
    names = tuple(f"feature_{column}" for column in range(columns))
    labelled: FileEntry = write_blocks(folder / "labels.int32", [labels])
    write_manifest(
        folder,
        Manifest(
            num_nodes=nodes,
            num_entries=int(indptr[-1]),
            is_directed=False,
            classes=tuple(f"class {k}" for k in range(classes)),
            parts=tuple(parts),
            labels=labelled,
            features=FeatureEntry(columns, "float32", names, tuple(panels)),
        ),
    )
    return DiskGraph.open(folder)


def peak_gb() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(folder: Path) -> None:
    """Compute the channel out of core, in this process; print time and peak."""
    graph = DiskGraph.open(folder)
    before, cpu = time.perf_counter(), time.process_time()
    compute_channels(graph, ChannelRecipe(features="as-given"))
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - before,
                "cpu_seconds": time.process_time() - cpu,
                "peak_gb": peak_gb(),
            }
        )
    )


def gather_bandwidth(nodes: int, draws: int, threads: int) -> float:
    """Return rows of 64 bytes a second that this machine gathers from a table of so many rows.

    The same kernel on a graph without structure: rows of 32 random neighbours. The bound of any
    product whose panel is not in the cache.
    """
    rng = np.random.default_rng(1)
    panel = padded(nodes, WIDTH)
    indices = rng.integers(0, nodes, draws, dtype=np.uint32)
    indptr = np.arange(0, draws + 1, 32)
    from heterophily.native.panels import panel_product

    out = np.empty((indptr.size - 1, WIDTH), np.float32)
    left = np.ones(indptr.size - 1)
    start = time.perf_counter()
    panel_product(0, indptr, indices, left, panel, out, has_loop=False, threads=threads)
    return draws / (time.perf_counter() - start)


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--folder", type=Path, default=None, help="where the graph is written")
    parser.add_argument("--quick", action="store_true", help="1e6 edges")
    parser.add_argument("--measured", type=Path, default=None, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.measured is not None:
        measured(told.measured)
        return 0
    edges = int(1e6 if told.quick else told.edges)
    nodes, place = edges // 10, Path(tempfile.mkdtemp(dir=told.folder))
    threads = usable_threads()
    try:
        graph = write_graph(place / "g.disk", edges, nodes, told.columns)
        entries = graph.num_entries
        print(
            f"{nodes:,} nodes, {graph.num_edges:,} edges, {told.columns} columns, {threads} cores"
        )
        done = subprocess.run(
            [sys.executable, __file__, "--measured", str(graph.folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        rate = entries * told.columns / found["seconds"] / 1e9
        print(
            f"out of core  {found['seconds']:8.1f} s  {found['cpu_seconds']:8.1f} CPU s  peak "
            f"{found['peak_gb']:.2f} GB  {rate:.2f}e9 entries x columns / s"
        )
        operator = StreamedOperator.of(graph.to_graph() if edges <= 10**7 else graph)
        panel = padded(nodes, WIDTH)
        for at in range(0, nodes, 1 << 18):
            panel[at : at + (1 << 18)] = graph.panels[0].read(slice(at, at + (1 << 18)))
        start, cpu = time.perf_counter(), time.process_time()
        ours = [rows for _, rows in operator.product(panel, WIDTH)]
        panels = -(-told.columns // WIDTH)
        ours_seconds = (time.perf_counter() - start) * panels
        ours_cpu = (time.process_time() - cpu) * panels
        print(
            f"in memory    {ours_seconds:8.1f} s  {ours_cpu:8.1f} CPU s  (one panel of 16 columns, "
            f"times {panels})"
        )
        bound = entries * panels / gather_bandwidth(nodes, min(entries, 5 * 10**7), threads)
        print(f"bound        {bound:8.1f} s  (random rows of 64 bytes, measured beside it)")
        part = graph.parts[0]
        rows = min(part.num_rows, nodes // 4)
        indptr = np.array(part.indptr[: rows + 1])
        matrix = sp.csr_array(
            (np.ones(indptr[-1], np.float32), part.indices[: indptr[-1]].astype(np.int32), indptr),
            shape=(rows, nodes),
        )
        x = np.concatenate([each.read() for each in graph.panels], axis=1)
        start, cpu = time.perf_counter(), time.process_time()
        theirs = matrix @ x
        scipy_seconds = (time.perf_counter() - start) * entries / indptr[-1]
        scipy_cpu = (time.process_time() - cpu) * entries / indptr[-1]
        print(
            f"SciPy        {scipy_seconds:8.1f} s  {scipy_cpu:8.1f} CPU s  (from {indptr[-1]:,} "
            "entries, one core)"
        )
        print(f"in memory {scipy_seconds / ours_seconds:.1f} times SciPy ", end="")
        print(f"({scipy_cpu / ours_cpu:.1f} by CPU time), ", end="")
        print(f"{ours_seconds / bound:.2f} times the bound")
        degrees = np.diff(indptr)[:, None]
        expected = (theirs[:, :WIDTH].astype(np.float64) + x[:rows, :WIDTH]) / (degrees + 1)
        off = np.abs(np.concatenate(ours)[:rows] - expected).max()
        print(f"largest difference from SciPy {off:.1e}")
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
