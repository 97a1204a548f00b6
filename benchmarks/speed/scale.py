"""Label metrics from tables beside DuckDB: CPU seconds, wall seconds, peak memory, in one run.

    python benchmarks/speed/scale.py --edges 1e6 1e7 1e8 --folder FOLDER
    python benchmarks/speed/scale.py --edges 1e9 --memory 4GB --no-rival --folder FOLDER --record results/scale.jsonl
    python benchmarks/speed/scale.py --plot docs/images/scale-curve.svg --record results/scale.jsonl

Each step is a process of its own. Ours reads Parquet, leaves duplicates and loops out and counts; DuckDB reads
the same files, leaves out the same and counts class pairs, node homophily and aggregation homophily, by two
scripts (edges without duplicates as a table, or never stored) of which the faster counts. All must agree. The
files are removed at the end.
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
from heterophily.metrics.catalog import compute_metrics
from heterophily.metrics.collect.tables import table_statistics
folder, memory = sys.argv[1:]
counted = table_statistics(folder + "/edges.parquet", folder + "/nodes.parquet", memory=memory, scratch=folder)
values = compute_metrics(counted).values
print(json.dumps({"edges": counted.num_edges, "consistent": counted.consistent[0],
                  "matching": int(counted.class_pairs.trace()) // 2, "node": values["node_homophily"]}))
"""
RIVAL = """
import json, sys
import duckdb, numpy as np
folder, memory, classes, is_stored = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "stored"
db = duckdb.connect(config={"memory_limit": memory, "temp_directory": folder + "/spill", "threads": 2})
db.execute("SET preserve_insertion_order = false")
db.execute(f"CREATE TABLE nodes AS SELECT id, y FROM read_parquet('{folder}/nodes.parquet')")
e = f\"\"\"(SELECT DISTINCT least(source, target) AS a, greatest(source, target) AS b
    FROM read_parquet('{folder}/edges.parquet') WHERE source <> target)\"\"\"
if is_stored:
    db.execute(f"CREATE TABLE e AS {e}")
    both = "SELECT a AS v, b AS u FROM e UNION ALL SELECT b, a FROM e"
else:
    both = f"SELECT unnest([a, b]) AS v, unnest([b, a]) AS u FROM {e}"
counts = ", ".join(f"count(*) FILTER (WHERE n.y = {k}) AS c{k}" for k in range(classes))
db.execute(f\"\"\"CREATE TABLE m AS SELECT v, {counts}, count(*) AS d
    FROM ({both}) JOIN nodes n ON n.id = u GROUP BY v\"\"\")
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
edges = int(db.execute("SELECT sum(d) FROM m").fetchone()[0]) // 2
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
    folder = given.folder / f"scale-{edges}-{given.degrees}"
    tool = [sys.executable, "-m", "heterophily.cli.app"]
    nodes = ["--nodes", str(max(edges // 10 // 5, 10)), "--classes", "5", "--degree", "20"]
    features = ["--features", str(given.features)] if given.features else ["--base", "none"]
    drawn = [*nodes, "--homophily", "0.3", *features, "--degrees", given.degrees]
    steps = {
        "generate": [*tool, "generate", str(folder), "--stream", *drawn],
        "ours": [sys.executable, "-c", OURS, str(folder), given.memory],
    }
    if not given.no_rival:
        for way in ("stored", "streamed"):
            steps[f"duckdb {way}"] = [
                *[sys.executable, "-c", RIVAL, str(folder)],
                *[given.rival_memory, "5", way],
            ]
    if given.keep and folder.is_dir():
        del steps["generate"]
    try:
        told = {name: measured(command) for name, command in steps.items()}
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    ours = last_line(told["ours"])
    rivals = [name for name in told if name.startswith("duckdb")]
    for name in rivals:
        theirs = last_line(told[name])
        same = all(ours[key] == theirs[key] for key in ("edges", "consistent", "matching"))
        if not same or abs(ours["node"] - theirs["node"]) > 1e-9:
            raise SystemExit(f"ours {ours}, {name} {theirs}")
    found: dict[str, object] = {"edges": edges, "degrees": given.degrees, "memory": given.memory}
    for kind in ("cpu", "wall") if rivals else ():
        best = min(float(str(told[name][f"{kind}_seconds"])) for name in rivals)
        found[f"{kind}_ratio"] = round(best / float(str(told["ours"][f"{kind}_seconds"])), 2)
    for name, values in told.items():
        found[name] = {key: value for key, value in values.items() if key != "text"}
    return {**found, "counted": ours}


def plot(record: Path, picture: Path) -> None:
    """Draw CPU seconds and peak memory against edges; the last record of a size counts."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    rows = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    kept = {(row["degrees"], row["edges"]): row for row in rows}
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for degrees, marker in (("uniform", "o"), ("power-law", "s")):
        of = [kept[key] for key in sorted(kept) if key[0] == degrees]
        for axis, key in zip(axes, ("cpu_seconds", "peak_gb"), strict=True):
            sizes, values = [row["edges"] for row in of], [row["ours"][key] for row in of]
            axis.plot(sizes, values, marker=marker, label=f"heterophily, {degrees} degrees")
    of = [row for row in rows if "duckdb stored" in row and row["degrees"] == "uniform"]
    for axis, key in zip(axes, ("cpu_seconds", "peak_gb"), strict=True):
        best = [min(row[f"duckdb {way}"][key] for way in ("stored", "streamed")) for row in of]
        axis.plot([row["edges"] for row in of], best, "k--^", label="DuckDB, uniform degrees")
        axis.set(xscale="log", yscale="log", xlabel="edges")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("CPU seconds, start of Python included")
    axes[1].set_ylabel("peak memory, GB")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(picture, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--degrees", default="uniform", choices=["uniform", "power-law"])
    parser.add_argument("--memory", default="1500MB", help="limit of ours")
    parser.add_argument("--rival-memory", default="8GB", help="limit of DuckDB")
    parser.add_argument("--no-rival", action="store_true")
    parser.add_argument(
        "--features", type=int, default=0, help="Gaussian columns of the node table"
    )
    parser.add_argument("--keep", action="store_true", help="keep the tables, use them again")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--record", type=Path, help="add a line for each size to this file")
    parser.add_argument(
        "--plot", type=Path, help="draw the record as this picture, measure nothing"
    )
    given = parser.parse_args()
    if given.plot is not None:
        plot(given.record, given.plot)
        return
    for edges in given.edges:
        line = json.dumps(run(int(edges), given))
        print(line, flush=True)
        if given.record is not None:
            with open(given.record, "a", encoding="utf-8") as stream:
                stream.write(line + "\n")


if __name__ == "__main__":
    main()
