"""Read an edge table: our `read_tables` against pyarrow's own CSV reader, and peak memory.

    python benchmarks/import_graph.py             # 1e7 rows, 1e6 nodes, about a minute
    python benchmarks/import_graph.py --rows 1e6

The two readers take turns on the same file; times are the best and the median of the turns. The
peak is measured in a fresh process, above what Python and the imports take.
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
from heterophily.data.tables import read_tables

def peak():
    status = Path("/proc/self/status")  # ru_maxrss would count the parent's memory before exec
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before = peak()
graph = read_tables(sys.argv[1])
arrays = (graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.labels,
          graph.node_ids)
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


def seconds(read: object, path: Path) -> float:
    begin = time.perf_counter()
    result = read(path)  # type: ignore[operator]
    elapsed = time.perf_counter() - begin
    del result
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--nodes", type=lambda text: int(float(text)), help="default: rows / 10")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    nodes = arguments.nodes or max(2, arguments.rows // 10)

    import pyarrow.csv as pa_csv

    from heterophily.data.tables import read_tables

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        write_edges(path, arguments.rows, nodes, seed=0)
        size = path.stat().st_size
        print(f"{arguments.rows:,} rows, {nodes:,} nodes, {size / 1e6:,.1f} MB")
        pa_csv.read_csv(path)  # once for the file cache
        theirs, ours = [], []
        for _ in range(arguments.turns):
            theirs.append(seconds(pa_csv.read_csv, path))
            ours.append(seconds(read_tables, path))
        for name, times in (("pyarrow.csv.read_csv", theirs), ("read_tables", ours)):
            print(f"{name:22} best {min(times):.3f} s  median {statistics.median(times):.3f} s")
        ratios = min(ours) / min(theirs), statistics.median(ours) / statistics.median(theirs)
        print(f"ratio                  best {ratios[0]:.2f}    median {ratios[1]:.2f}  (target 3)")
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
