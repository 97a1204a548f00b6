# ruff: noqa: E501  (SQL)
"""Metrics of graphs on disk beside a DuckDB script: CPU seconds, peak memory, ratio, in one run.

    python benchmarks/scale.py --edges 1e6 1e7 --folder FOLDER
    python benchmarks/scale.py --edges 1e9 --degrees power-law --memory 4GB --no-rival --folder FOLDER

Each step is a process of its own. Ours reads Parquet, removes duplicates and loops, writes the graph
on disk and counts; DuckDB reads the same files, removes the same and counts class pairs, node homophily
and aggregation homophily. Both must agree. The files are removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OURS = """
import json, sys
from heterophily.data.disk.graph import DiskGraph
from heterophily.metrics.catalog import compute_metrics
from heterophily.metrics.collect.disk import disk_statistics
counted = disk_statistics(DiskGraph.open(sys.argv[1]))
values = compute_metrics(counted).values
print(json.dumps({"edges": counted.num_edges, "consistent": counted.consistent[0],
                  "matching": int(counted.class_pairs.trace()) // 2, "node": values["node_homophily"]}))
"""
RIVAL = """
import json, sys
import duckdb, numpy as np
folder, memory, classes = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = duckdb.connect(config={"memory_limit": memory, "temp_directory": folder + "/spill", "threads": 2})
db.execute("SET preserve_insertion_order = false")
db.execute(f"CREATE TABLE nodes AS SELECT id, y FROM read_parquet('{folder}/nodes.parquet')")
db.execute(f\"\"\"CREATE TABLE e AS SELECT DISTINCT least(source, target) AS a, greatest(source, target) AS b
    FROM read_parquet('{folder}/edges.parquet') WHERE source <> target\"\"\")
counts = ", ".join(f"count(*) FILTER (WHERE n.y = {k}) AS c{k}" for k in range(classes))
db.execute(f\"\"\"CREATE TABLE m AS SELECT v, {counts}, count(*) AS d
    FROM (SELECT a AS v, b AS u FROM e UNION ALL SELECT b, a FROM e) JOIN nodes n ON n.id = u GROUP BY v\"\"\")
own = "CASE y " + " ".join(f"WHEN {k} THEN c{k}" for k in range(classes)) + " END"
sums = ", ".join(f"sum((coalesce(c{k}, 0) + (y = {k})::INT) / (coalesce(d, 0) + 1.0))" for k in range(classes))
rows = db.execute(f\"\"\"SELECT y, count(*), sum({own}), sum({own} / d), count(d), {sums}
    FROM nodes LEFT JOIN m ON id = v GROUP BY y ORDER BY y\"\"\").fetchall()
sizes = np.array([r[1] for r in rows], float); total = np.array([r[5:] for r in rows], float)
gap = total / sizes[:, None] - (total.sum(0) - total) / (sizes.sum() - sizes)[:, None]
dot = "CASE y " + " ".join(
    f"WHEN {k} THEN " + " + ".join(f"(coalesce(c{j}, 0) + (y = {j})::INT) * ({gap[k, j]!r})" for j in range(classes))
    for k in range(classes)).replace("np.float64(", "(") + " END"
consistent = db.execute(f\"\"\"SELECT count(*) FROM nodes LEFT JOIN m ON id = v
    WHERE ({dot}) / (coalesce(d, 0) + 1.0) >= -1e-10\"\"\").fetchone()[0]
edges = db.execute("SELECT count(*) FROM e").fetchone()[0]
print(json.dumps({"edges": edges, "consistent": consistent, "matching": int(sum(r[2] or 0 for r in rows)) // 2,
                  "node": sum(r[3] or 0 for r in rows) / sum(r[4] for r in rows)}))
"""


def measured(command: list[str]) -> dict[str, object]:
    """Run a command; return CPU and wall seconds, peak memory in GB, and what it printed."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"failed: {' '.join(command)[:200]}")
    return {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "wall_seconds": round(time.perf_counter() - start, 1),
        "peak_gb": round(used.ru_maxrss / 2**20, 2),
        "text": text,
    }


def last_line(step: dict[str, object]) -> dict[str, float]:
    """Return the numbers that a step printed, after whatever progress it showed."""
    text = str(step["text"])
    found: dict[str, float] = json.loads(text[text.rindex("{") :])
    return found


def run(edges: int, given: argparse.Namespace) -> dict[str, object]:
    """Measure one size."""
    folder, disk = given.folder / f"scale-{edges}", given.folder / f"scale-{edges}.disk"
    shutil.rmtree(disk, ignore_errors=True)
    tool = [sys.executable, "-m", "heterophily.cli.app"]
    nodes = ["--nodes", str(max(edges // 10 // 5, 10)), "--classes", "5", "--degree", "20"]
    drawn = [*nodes, "--homophily", "0.3", "--base", "none", "--degrees", given.degrees]
    tables = ["--edges", str(folder / "edges.parquet"), "--nodes", str(folder / "nodes.parquet")]
    steps = {
        "generate": [*tool, "generate", str(folder), "--stream", *drawn],
        "convert": [*tool, "convert", *tables, "--out", str(disk), "--memory", given.memory],
        "count": [sys.executable, "-c", OURS, str(disk)],
    }
    if not given.no_rival:
        steps["duckdb"] = [sys.executable, "-c", RIVAL, str(folder), given.rival_memory, "5"]
    found: dict[str, object] = {"edges": edges, "degrees": given.degrees, "memory": given.memory}
    try:
        told = {name: measured(command) for name, command in steps.items()}
    finally:
        for path in (folder, disk):
            shutil.rmtree(path, ignore_errors=True)
    ours = last_line(told["count"])
    if "duckdb" in told:
        theirs = last_line(told["duckdb"])
        same = all(ours[key] == theirs[key] for key in ("edges", "consistent", "matching"))
        if not same or abs(ours["node"] - theirs["node"]) > 1e-9:
            raise SystemExit(f"ours {ours}, DuckDB {theirs}")
        cost = float(str(told["convert"]["cpu_seconds"])) + float(str(told["count"]["cpu_seconds"]))
        found["cpu_ratio"] = round(float(str(told["duckdb"]["cpu_seconds"])) / cost, 2)
    for name, values in told.items():
        found[name] = {key: value for key, value in values.items() if key != "text"}
    return {**found, "counted": ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--degrees", default="uniform", choices=["uniform", "power-law"])
    parser.add_argument("--memory", default="1500MB", help="of our conversion")
    parser.add_argument("--rival-memory", default="8GB", help="limit of DuckDB")
    parser.add_argument("--no-rival", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path())
    given = parser.parse_args()
    for edges in given.edges:
        print(json.dumps(run(int(edges), given)), flush=True)


if __name__ == "__main__":
    main()
