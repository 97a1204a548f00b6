"""The same tables diagnosed in memory, by DuckDB and by Spark: seconds, memory, and one answer.

    python benchmarks/speed/warehouse.py --nodes 100000 --edges 1000000 --folder FOLDER
    python benchmarks/speed/warehouse.py --engines memory duckdb:// 'spark://local[2]' --record results/warehouse.jsonl
    python benchmarks/speed/warehouse.py --datasets minesweeper tolokers --engines memory duckdb://
    python benchmarks/speed/warehouse.py --recipes 12 --engines memory duckdb://

Each engine is a process of its own, reads the same Parquet files, counts the metrics and runs the probe on at
most 10,000 nodes. All must agree on edges, on the nodes that aggregation homophily counts, and on the verdict.
Peak memory is that of the largest process (with Spark: its Java machine).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WORK = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
engine, edges, nodes, quick = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == "quick"
start = time.perf_counter()
if engine == "memory":
    from heterophily import read_tables
    from heterophily.diagnosis.diagnose import diagnose
    graph = read_tables(edges, nodes)
    counting = time.perf_counter()
    found = diagnose(graph, quick=quick)
    counted = None
else:
    from heterophily.data.warehouse.connect import connect
    from heterophily.data.warehouse.graph import WarehouseGraph
    from heterophily.diagnosis.warehouse import diagnose_tables
    connection = connect(engine, memory=4 * 2**30)
    counting = time.perf_counter()
    found = diagnose_tables(WarehouseGraph.open(connection, edges, nodes), quick=quick)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
if engine.startswith("spark"):  # the Java machine ends with its session: then its use is known
    connection._session.stop()
    from pyspark import SparkContext
    SparkContext._gateway.shutdown(); SparkContext._gateway.proc.stdin.close(); SparkContext._gateway.proc.wait()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
values = {k: v for k, v in found.metrics.values.items() if v is not None and k != "effective_homophily"}
print(json.dumps({
    "start_seconds": round(counting - start, 1), "seconds": round(time.perf_counter() - counting, 1),
    "cpu_seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 1),
    "peak_gb": round(max(u.ru_maxrss for u in used) / 2**20, 2), "edges": found.report.edges,
    "verdict": found.verdict.kind, "gain": None if found.probe is None else found.probe.gain.value,
    "best": None if found.probe is None else found.probe.best, "metrics": values}))
"""


def write_made(folder: Path, nodes: int, edges: int) -> tuple[Path, Path]:
    """Write a graph of five classes whose neighbours are mostly of the next class."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, nodes)
    source = rng.integers(0, nodes, edges)
    target = rng.integers(0, nodes, (3, edges))  # of three draws, the first of the next class
    fits = labels[target] == (labels[source] + 1) % 5
    target = target[np.argmax(fits, axis=0), np.arange(edges)]
    files = folder / "edges.parquet", folder / "nodes.parquet"
    pq.write_table(pa.table({"source": source, "target": target}), files[0])
    columns = {f"x{k}": rng.normal(size=nodes) + 0.5 * (labels == k) for k in range(8)}
    pq.write_table(pa.table({"id": np.arange(nodes), "label": labels, **columns}), files[1])
    return files


def write_dataset(folder: Path, name: str, graph: object = None) -> tuple[Path, Path]:
    from heterophily import load
    from heterophily.data.tables.write import write_tables

    files = folder / f"{name}-edges.parquet", folder / f"{name}-nodes.parquet"
    write_tables(graph or load(name), *files)
    return files


def write_recipes(folder: Path, count: int) -> dict[str, tuple[Path, Path]]:
    """Write undirected graphs without weights of the suite of verdicts, each of another kind."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "science"))
    from verdict_suite.generate import seeded_sample
    from verdict_suite.recipes import HALF, RECIPES

    graphs = {}
    for name, recipe in RECIPES.items():
        if HALF[name] == "measure" and len(graphs) < count and not recipe.edges.is_directed:
            graph = seeded_sample(recipe, 0).graph()
            if not graph.is_weighted:
                graphs[name] = write_dataset(folder, graph.name, graph)
    return graphs


def measured(engine: str, files: tuple[Path, Path], *, quick: bool) -> dict[str, object]:
    words = [sys.executable, "-c", WORK, engine, *map(str, files), "quick" if quick else "whole"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{engine}: {done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(first: dict[str, object], other: dict[str, object]) -> str:
    """Return what differs between two answers, nothing if they agree."""
    differ = [key for key in ("edges", "verdict") if first[key] != other[key]]
    here, there = first["metrics"], other["metrics"]
    assert isinstance(here, dict)
    assert isinstance(there, dict)
    common = here.keys() & there.keys()
    # Roots of eigenvalues that are zero but for rounding enter neighbourhood identifiability.
    differ += sorted(
        name
        for name in common
        if abs(here[name] - there[name]) > (1e-7 if "identifiability" in name else 1e-9)
    )
    return ", ".join(differ)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument(
        "--recipes", type=int, default=0, help="generated graphs of this many kinds"
    )
    parser.add_argument("--engines", nargs="+", default=["memory", "duckdb://", "spark://local[2]"])
    parser.add_argument("--folder", type=Path, help="for the files")
    parser.add_argument("--record", type=Path, help="append records here, one JSON line each")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        graphs = {f"{given.edges:.0e}": write_made(folder, given.nodes, given.edges)}
        if given.datasets:
            graphs = {name: write_dataset(folder, name) for name in given.datasets}
        if given.recipes:
            graphs = write_recipes(folder, given.recipes)
        print(
            "| graph | engine | start s | diagnosis s | CPU s | peak GB | verdict | gain | differs |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for graph, files in graphs.items():
            first = None
            for engine in given.engines:
                found = measured(engine, files, quick=given.quick)
                first = first or found
                differs = compared(first, found) or "nothing"
                gain = found["gain"]
                told = "-" if not isinstance(gain, float) else f"{found['best']} {100 * gain:+.1f}"
                cells = [
                    graph,
                    engine,
                    *(found[k] for k in ("start_seconds", "seconds", "cpu_seconds", "peak_gb")),
                ]
                print(
                    "|",
                    " | ".join(map(str, [*cells, found["verdict"], told, differs])),
                    "|",
                    flush=True,
                )
                if given.record is not None:
                    record = {"graph": graph, "engine": engine, "differs": differs, **found}
                    with given.record.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
