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

import statistics
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Spent, Ways, apart, best, count, interleaved, memory_mb, parser

KINDS = (("wall", "wall"), ("CPU", "cpu"))


def peak_of_reading(*tables: Path) -> tuple[float, float]:
    """Return the MB that reading adds at its peak, and those of the arrays of the graph."""
    import contextlib

    import pyarrow.csv  # noqa: F401

    with contextlib.suppress(ImportError):
        import pandas  # noqa: F401  (pyarrow imports it when it is there: not what reading takes)
    from heterophily.data.tables import read_tables

    before = memory_mb("VmHWM")
    graph = read_tables(*tables)
    x, a = graph.features, graph.adjacency
    arrays = [a.data, a.indices, a.indptr, graph.labels, graph.node_ids]
    if x is not None:
        arrays += [x.data, x.indices, x.indptr] if hasattr(x, "indptr") else [x]
    return memory_mb("VmHWM") - before, sum(array.nbytes for array in arrays) / 1e6


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

    ways: Ways = {
        "without": lambda: read_tables(edges, nodes, features=[]),
        "parsed": lambda: pa_csv.read_csv(nodes),
        "with": lambda: read_tables(edges, nodes),
    }
    peak, arrays = apart(peak_of_reading, edges, nodes).value  # before this process reads
    found = interleaved(ways, turns)
    for kind, name in KINDS:
        first = min(
            getattr(a, name) + getattr(b, name)
            for a, b in zip(found["without"], found["parsed"], strict=True)
        )
        second = getattr(best(found["with"]), name)
        print(
            f"{kind:4} without encoding {first:.2f} s, with {second:.2f} s: "
            f"{100 * (second / first - 1):+.0f} %  (target +50 %)"
        )
    print(f"peak memory {peak:,.0f} MB, arrays {arrays:,.0f} MB: {peak / arrays:.2f}  (target 2.5)")


def compare_reading(path: Path, turns: int) -> None:
    """Print the times of both readers, their ratio, and the peak of memory of ours."""
    import pyarrow.csv as pa_csv

    from heterophily.data.tables import read_tables

    ways: Ways = {
        "pyarrow.csv.read_csv": lambda: pa_csv.read_csv(path),
        "read_tables": lambda: read_tables(path),
    }
    peak, arrays = apart(peak_of_reading, path).value  # before this process reads
    found = interleaved(ways, turns)
    for kind, name in KINDS:
        for way, spent in found.items():
            least, median = _least_and_median(spent, name)
            print(f"{kind:4} {way:22} best {least:.3f} s  median {median:.3f} s")
        theirs, ours = (_least_and_median(spent, name) for spent in found.values())
        print(
            f"{kind:4} {'ratio':22} best {ours[0] / theirs[0]:.2f}     "
            f"median {ours[1] / theirs[1]:.2f}  (target 3)"
        )
    limit = 3 * arrays + path.stat().st_size / 1e6
    print(
        f"peak memory            {peak:,.0f} MB of {limit:,.0f} MB "
        f"(3 x {arrays:,.0f} MB of arrays + the file): {peak / limit:.2f}"
    )


def _least_and_median(turns: Iterable[Spent], name: str) -> tuple[float, float]:
    values = [getattr(turn, name) for turn in turns]
    return min(values), statistics.median(values)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=count, default=10_000_000)
    options.add_argument("--nodes", type=count, help="default: rows / 10")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--mixed", action="store_true", help="a node table of mixed columns")
    given = options.parse_args()
    if given.quick:
        given.rows, given.turns = 2_000, 1
    nodes = given.nodes or max(2, given.rows // 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        write_edges(path, given.rows, nodes, seed=0)
        print(f"{given.rows:,} rows, {nodes:,} nodes, {path.stat().st_size / 1e6:,.1f} MB")
        if given.mixed or given.quick:
            write_nodes(Path(folder) / "nodes.csv", nodes, seed=1)
            compare_encoding(path, Path(folder) / "nodes.csv", given.turns)
        if not given.mixed:
            compare_reading(path, given.turns)


if __name__ == "__main__":
    main()
