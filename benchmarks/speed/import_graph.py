"""Read an edge table: our `read_tables` against pyarrow's own CSV reader, and peak memory.

    python benchmarks/speed/import_graph.py             # 1e7 rows, 1e6 nodes, about a minute
    python benchmarks/speed/import_graph.py --rows 1e6
    python benchmarks/speed/import_graph.py --mixed     # with a node table of ten mixed columns

The two readers take turns on the same file; times are the best and the median of the turns. The
peak is measured in a fresh process, above what Python and the imports take. With --mixed the same
two tables are read with and without encoding the ten columns; the time without includes parsing
them (by pyarrow, as strings, numbers and dates).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_PEAK = """
import json, resource, sys
from pathlib import Path
import pyarrow.csv
try:
    import pandas  # pyarrow imports it when it is installed: not what reading takes
except ImportError:
    pass
from heterophily.data.tables import read_tables

def peak():
    status = Path("/proc/self/status")  # ru_maxrss would count the parent's memory before exec
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before = peak()
graph = read_tables(*sys.argv[1:])
arrays = [graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.labels,
          graph.node_ids]
if graph.features is not None:
    x = graph.features
    arrays += [x.data, x.indices, x.indptr] if hasattr(x, "indptr") else [x]
print(json.dumps({"peak": peak() - before, "arrays": sum(a.nbytes for a in arrays)}))
"""


def write_edges(path: Path, rows: int, nodes: int, seed: int) -> None:
    """Write random pairs of node numbers, a million rows at a time."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    rng = np.random.default_rng(seed)
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pa_csv.CSVWriter(path, schema) as writer:
        for start in range(0, rows, 1_000_000):
            ends = rng.integers(0, nodes, (2, min(1_000_000, rows - start)))
            writer.write_table(pa.table([pa.array(end) for end in ends], schema=schema))


def write_nodes(path: Path, nodes: int, seed: int) -> None:
    """Write ids, labels and ten columns: four of numbers, four of words, a date, a text."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    rng = np.random.default_rng(seed)
    words = np.array([f"word{k}" for k in range(5000)])
    writer = None
    for start in range(0, nodes, 100_000):
        size = min(100_000, nodes - start)

        def one_of(prefix: str, count: int, size: int = size) -> object:
            return np.array([f"{prefix}{k}" for k in range(count)])[rng.integers(0, count, size)]

        income = pa.array(rng.lognormal(10, 1, size).round(2), mask=rng.random(size) < 0.1)
        days = np.datetime64("2015-01-01") + rng.integers(0, 3000, size)
        table = pa.table(
            {
                "id": np.arange(start, start + size),
                "label": one_of("class", 5),
                "age": rng.integers(18, 90, size),
                "income": income,
                "score": rng.normal(size=size),
                "visits": rng.poisson(3, size),
                "country": one_of("country", 40),
                "city": one_of("city", 3000),
                "plan": one_of("plan", 3),
                "active": one_of("active", 2),
                "joined": pa.array(days),
                "bio": [" ".join(row) for row in words[rng.integers(0, 5000, (size, 4))]],
            }
        )
        writer = writer or pa_csv.CSVWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def compare_encoding(edges: Path, nodes: Path, turns: int) -> None:
    """Print times with and without the ten columns, and the peak of memory with them."""
    import pyarrow.csv as pa_csv

    from heterophily.data.tables import read_tables

    pa_csv.read_csv(nodes)
    without, whole = [], []
    for _ in range(turns):
        plain = seconds(lambda path: read_tables(path, nodes, features=[]), edges)
        parsed = seconds(pa_csv.read_csv, nodes)
        without.append(tuple(a + b for a, b in zip(plain, parsed, strict=True)))
        whole.append(seconds(lambda path: read_tables(path, nodes), edges))
    for kind, column in (("wall", 0), ("CPU", 1)):
        first, second = (min(times[column] for times in runs) for runs in (without, whole))
        print(
            f"{kind:4} without encoding {first:.2f} s, with {second:.2f} s: "
            f"{100 * (second / first - 1):+.0f} %  (target +50 %)"
        )
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(edges), str(nodes)],
        check=True,
        capture_output=True,
        text=True,
    )
    memory = json.loads(done.stdout)
    print(
        f"peak memory {memory['peak'] / 1e6:,.0f} MB, arrays {memory['arrays'] / 1e6:,.0f} MB: "
        f"{memory['peak'] / memory['arrays']:.2f}  (target 2.5)"
    )


def seconds(read: object, path: Path) -> tuple[float, float]:
    """Return wall time, and CPU time of all threads, which other programs disturb less."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = read(path)  # type: ignore[operator]
    elapsed = time.perf_counter() - begin, time.process_time() - cpu
    del result
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--nodes", type=lambda text: int(float(text)), help="default: rows / 10")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--mixed", action="store_true", help="a node table of mixed columns")
    arguments = parser.parse_args()
    nodes = arguments.nodes or max(2, arguments.rows // 10)

    import pyarrow.csv as pa_csv

    from heterophily.data.tables import read_tables

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        write_edges(path, arguments.rows, nodes, seed=0)
        size = path.stat().st_size
        print(f"{arguments.rows:,} rows, {nodes:,} nodes, {size / 1e6:,.1f} MB")
        if arguments.mixed:
            write_nodes(Path(folder) / "nodes.csv", nodes, seed=1)
            compare_encoding(path, Path(folder) / "nodes.csv", arguments.turns)
            return
        pa_csv.read_csv(path)  # once for the file cache
        theirs, ours = [], []
        for _ in range(arguments.turns):
            theirs.append(seconds(pa_csv.read_csv, path))
            ours.append(seconds(read_tables, path))
        for kind, column in (("wall", 0), ("CPU", 1)):
            pair = [[times[column] for times in runs] for runs in (theirs, ours)]
            for name, times in zip(("pyarrow.csv.read_csv", "read_tables"), pair, strict=True):
                median = statistics.median(times)
                print(f"{kind:4} {name:22} best {min(times):.3f} s  median {median:.3f} s")
            best = min(pair[1]) / min(pair[0])
            median = statistics.median(pair[1]) / statistics.median(pair[0])
            print(f"{kind:4} {'ratio':22} best {best:.2f}     median {median:.2f}  (target 3)")
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, str(path)], check=True, capture_output=True, text=True
        )
        memory = json.loads(done.stdout)
        limit = 3 * memory["arrays"] + size
        print(
            f"peak memory            {memory['peak'] / 1e6:,.0f} MB of {limit / 1e6:,.0f} MB "
            f"(3 x {memory['arrays'] / 1e6:,.0f} MB of arrays + the file): "
            f"{memory['peak'] / limit:.2f}"
        )


if __name__ == "__main__":
    main()
