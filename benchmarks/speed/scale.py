"""Label metrics from tables beside DuckDB: CPU seconds, wall seconds, peak memory, in one run.

    python benchmarks/speed/scale.py --edges 1e6 1e7 1e8 --folder FOLDER
    python benchmarks/speed/scale.py --edges 1e9 --memory 4GB --no-rival --folder FOLDER --record results/scale.jsonl
    python benchmarks/speed/scale.py --plot docs/images/scale-curve.png --record results/scale/metrics.jsonl

Each step is a process of its own. Ours reads Parquet, leaves duplicates and loops out and counts; DuckDB reads
the same files, leaves out the same and counts class pairs, node homophily and aggregation homophily, by two
scripts (edges without duplicates as a table, or never stored) of which the faster counts. All must agree. The
files are removed at the end.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Apart, apart, count, heterophily, parser, tell

CLASSES = 5
Counts = dict[str, float]


def ours(folder: Path, memory: str) -> Counts:
    """Count with the package."""
    from heterophily.metrics.catalog import compute_metrics
    from heterophily.metrics.collect.tables import table_statistics

    tables = (str(folder / f"{name}.parquet") for name in ("edges", "nodes"))
    counted = table_statistics(*tables, memory=memory, scratch=str(folder))
    return {
        "edges": counted.num_edges,
        "consistent": counted.consistent[0],
        "matching": int(counted.class_pairs.trace()) // 2,
        "node": compute_metrics(counted).values["node_homophily"],
    }


def duckdb_counts(folder: Path, memory: str, *, is_stored: bool) -> Counts:
    """Count with SQL; edges without duplicates are a table (``is_stored``) or never stored."""
    import duckdb
    import numpy as np

    classes = range(CLASSES)
    limits = {"memory_limit": memory, "temp_directory": f"{folder}/spill", "threads": 2}
    db = duckdb.connect(config=limits)
    db.execute("SET preserve_insertion_order = false")
    db.execute(f"CREATE TABLE nodes AS SELECT id, y FROM read_parquet('{folder}/nodes.parquet')")
    edges = f"""(SELECT DISTINCT least(source, target) AS a, greatest(source, target) AS b
        FROM read_parquet('{folder}/edges.parquet') WHERE source <> target)"""
    if is_stored:
        db.execute(f"CREATE TABLE e AS {edges}")
        both = "SELECT a AS v, b AS u FROM e UNION ALL SELECT b, a FROM e"
    else:
        both = f"SELECT unnest([a, b]) AS v, unnest([b, a]) AS u FROM {edges}"
    counts = ", ".join(f"count(*) FILTER (WHERE n.y = {k}) AS c{k}" for k in classes)
    db.execute(f"""CREATE TABLE m AS SELECT v, {counts}, count(*) AS d
        FROM ({both}) JOIN nodes n ON n.id = u GROUP BY v""")
    own = "CASE y " + " ".join(f"WHEN {k} THEN c{k}" for k in classes) + " END"
    with_itself = [f"(coalesce(c{k}, 0) + (y = {k})::INT)" for k in classes]
    sums = ", ".join(f"sum({each} / (coalesce(d, 0) + 1.0))" for each in with_itself)
    rows = db.execute(f"""SELECT y, count(*), sum({own}), sum({own} / d), count(d), {sums}
        FROM nodes LEFT JOIN m ON id = v GROUP BY y ORDER BY y""").fetchall()
    sizes, total = (np.array(part, float) for part in ([r[1] for r in rows], [r[5:] for r in rows]))
    gap = total / sizes[:, None] - (total.sum(0) - total) / (sizes.sum() - sizes)[:, None]
    dots = [
        " + ".join(f"{each} * ({float(gap[k, j])!r})" for j, each in enumerate(with_itself))
        for k in classes
    ]
    dot = "CASE y " + " ".join(f"WHEN {k} THEN {dots[k]}" for k in classes) + " END"
    (consistent,) = db.execute(f"""SELECT count(*) FROM nodes LEFT JOIN m ON id = v
        WHERE ({dot}) / (coalesce(d, 0) + 1.0) >= -1e-10""").fetchone()
    return {
        "edges": int(db.execute("SELECT sum(d) FROM m").fetchone()[0]) // 2,
        "consistent": consistent,
        "matching": int(sum(r[2] or 0 for r in rows)) // 2,
        "node": sum(r[3] or 0 for r in rows) / sum(r[4] for r in rows),
    }


def numbers(step: Apart) -> dict[str, float]:
    """Return what a record keeps of a step."""
    facts = step.facts()
    return {"wall_seconds": facts.pop("seconds"), **facts}


def run(edges: int, given: Any) -> dict[str, Any]:
    """Measure one size."""
    folder = given.folder / f"scale-{edges}-{given.degrees}"
    nodes = ["--nodes", max(edges // 10 // 5, 10), "--classes", CLASSES, "--degree", 20]
    features = ["--features", given.features] if given.features else ["--base", "none"]
    drawn = [*nodes, "--homophily", 0.3, *features, "--degrees", given.degrees]
    found: dict[str, Any] = {"edges": edges, "degrees": given.degrees, "memory": given.memory}
    told: dict[str, Apart] = {}
    try:
        if not (given.keep and folder.is_dir()):
            told["generate"] = apart(heterophily, "generate", folder, "--stream", *drawn)
        told["ours"] = apart(ours, folder, given.memory)
        for way in () if given.no_rival else ("stored", "streamed"):
            told[f"duckdb {way}"] = apart(
                duckdb_counts, folder, given.rival_memory, is_stored=way == "stored"
            )
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    here, rivals = told["ours"], [name for name in told if name.startswith("duckdb")]
    for name in rivals:
        theirs, own = told[name].value, here.value
        same = all(own[key] == theirs[key] for key in ("edges", "consistent", "matching"))
        if not same or abs(own["node"] - theirs["node"]) > 1e-9:
            raise SystemExit(f"ours {own}, {name} {theirs}")
    for kind in ("cpu", "wall") if rivals else ():
        least = min(getattr(told[name].spent, kind) for name in rivals)
        found[f"{kind}_ratio"] = round(least / getattr(here.spent, kind), 2)
    return {**found, **{name: numbers(step) for name, step in told.items()}, "counted": here.value}


def plot(record: Path, picture: Path) -> None:
    """Draw CPU seconds and peak memory against edges; the last record of a size counts."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    rows = [json.loads(text) for text in record.read_text("utf-8").splitlines()]
    kept = {(row["degrees"], row["edges"]): row for row in rows}
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for degrees, marker in (("uniform", "o"), ("power-law", "s")):
        of = [kept[key] for key in sorted(kept) if key[0] == degrees]
        for axis, key in zip(axes, ("cpu_seconds", "peak_gb"), strict=True):
            sizes, values = [row["edges"] for row in of], [row["ours"][key] for row in of]
            axis.plot(sizes, values, marker=marker, label=f"heterophily, {degrees} degrees")
    of = [kept[key] for key in sorted(kept) if "duckdb stored" in kept[key]]
    for axis, key in zip(axes, ("cpu_seconds", "peak_gb"), strict=True):
        best = [min(row[f"duckdb {way}"][key] for way in ("stored", "streamed")) for row in of]
        axis.plot([row["edges"] for row in of], best, "k--^", label="DuckDB, uniform degrees")
        axis.set(xscale="log", yscale="log", xlabel="edges")
        axis.grid(alpha=0.3)
    for axis, ticks in zip(axes, ((0.5, 1, 3, 10, 30, 60), (0.2, 0.5, 1, 2, 5)), strict=True):
        axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_yticks([], minor=True)
    axes[0].set_ylabel("CPU seconds, start of Python included")
    axes[1].set_ylabel("peak memory, GB")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(picture, dpi=120)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--edges", type=count, nargs="+", default=[10**6, 10**7])
    options.add_argument("--degrees", default="uniform", choices=["uniform", "power-law"])
    options.add_argument("--memory", default="1500MB", help="limit of ours")
    options.add_argument("--rival-memory", default="8GB", help="limit of DuckDB")
    options.add_argument("--no-rival", action="store_true")
    options.add_argument(
        "--features", type=int, default=0, help="Gaussian columns of the node table"
    )
    options.add_argument("--keep", action="store_true", help="keep the tables, use them again")
    options.add_argument("--folder", type=Path, default=Path())
    options.add_argument("--record", type=Path, help="add a line for each size to this file")
    options.add_argument(
        "--plot", type=Path, help="draw the record as this picture, measure nothing"
    )
    given = options.parse_args()
    if given.plot is not None:
        plot(given.record, given.plot)
        return
    if given.quick:
        given.edges, given.rival_memory = [5_000], "500MB"
    for edges in given.edges:
        tell(run(edges, given), None if given.quick else given.record)


if __name__ == "__main__":
    main()
