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

import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import SCIENCE, apart, head, line, parser, tell

ENGINES = ["memory", "duckdb://", "spark://local[2]"]


def diagnosed(engine: str, edges: Path, nodes: Path, *, quick: bool) -> dict[str, Any]:
    """Diagnose two tables with an engine; return the answer and what it took."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    if engine == "memory":
        from heterophily import read_tables
        from heterophily.diagnosis.diagnose import diagnose

        graph = read_tables(edges, nodes)
        counting = time.perf_counter()
        found = diagnose(graph, quick=quick)
    else:
        from heterophily.data.warehouse.connect import connect
        from heterophily.data.warehouse.graph import WarehouseGraph
        from heterophily.diagnosis.warehouse import diagnose_tables

        connection = connect(engine, memory=4 * 2**30)
        counting = time.perf_counter()
        tables = WarehouseGraph.open(connection, str(edges), str(nodes))
        found = diagnose_tables(tables, quick=quick)
    ended = time.perf_counter()
    if engine.startswith("spark"):
        _end_java(connection)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    values = found.metrics.values.items()
    probe = found.probe
    return {
        "start_seconds": round(counting - start, 1),
        "seconds": round(ended - counting, 1),
        "cpu_seconds": round(sum(each.ru_utime + each.ru_stime for each in used), 1),
        "peak_gb": round(max(each.ru_maxrss for each in used) / 2**20, 2),
        "edges": found.report.edges,
        "verdict": found.verdict.kind,
        "gain": None if probe is None else probe.gain.value,
        "best": None if probe is None else probe.best,
        "metrics": {k: v for k, v in values if v is not None and k != "effective_homophily"},
    }


def _end_java(connection: Any) -> None:
    """End the session of Spark and its Java machine: then the use of that machine is known."""
    from pyspark import SparkContext

    connection._session.stop()
    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


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
    sys.path.insert(0, str(SCIENCE))
    from verdict_suite.generate import seeded_sample
    from verdict_suite.recipes import HALF, RECIPES

    graphs = {}
    for name, recipe in RECIPES.items():
        if HALF[name] == "measure" and len(graphs) < count and not recipe.edges.is_directed:
            graph = seeded_sample(recipe, 0).graph()
            if not graph.is_weighted:
                graphs[name] = write_dataset(folder, graph.name, graph)
    return graphs


def compared(first: dict[str, Any], other: dict[str, Any]) -> str:
    """Return what differs between two answers, nothing if they agree."""
    differ = [key for key in ("edges", "verdict") if first[key] != other[key]]
    here, there = first["metrics"], other["metrics"]
    common = here.keys() & there.keys()
    # Roots of eigenvalues that are zero but for rounding enter neighbourhood identifiability.
    differ += sorted(
        name
        for name in common
        if abs(here[name] - there[name]) > (1e-7 if "identifiability" in name else 1e-9)
    )
    return ", ".join(differ)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=100_000)
    options.add_argument("--edges", type=int, default=1_000_000)
    options.add_argument("--datasets", nargs="*", default=[])
    options.add_argument(
        "--recipes", type=int, default=0, help="generated graphs of this many kinds"
    )
    options.add_argument("--engines", nargs="+", default=ENGINES)
    options.add_argument("--brief", action="store_true", help="brief diagnoses: diagnose --quick")
    options.add_argument("--folder", type=Path, help="for the files")
    options.add_argument("--record", type=Path, help="append records here, one JSON line each")
    given = options.parse_args()
    if given.quick:
        given.nodes, given.edges, given.engines, given.brief = 200, 1_000, ENGINES[:2], True
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        if given.datasets:
            graphs = {name: write_dataset(folder, name) for name in given.datasets}
        elif given.recipes:
            graphs = write_recipes(folder, given.recipes)
        else:
            graphs = {f"{given.edges:.0e}": write_made(folder, given.nodes, given.edges)}
        titles = ["graph", "engine", "start s", "diagnosis s", "CPU s", "peak GB", "verdict"]
        print(head([*titles, "gain", "differs"]))
        for graph, files in graphs.items():
            first = None
            for engine in given.engines:
                found = apart(diagnosed, engine, *files, quick=given.brief).value
                first = first or found
                differs = compared(first, found) or "nothing"
                gain = found["gain"]
                told = "-" if gain is None else f"{found['best']} {100 * gain:+.1f}"
                kept = ("start_seconds", "seconds", "cpu_seconds", "peak_gb", "verdict")
                print(line([graph, engine, *(found[key] for key in kept), told, differs]))
                if given.record is not None and not given.quick:
                    tell(
                        {"graph": graph, "engine": engine, "differs": differs, **found},
                        given.record,
                    )


if __name__ == "__main__":
    main()
