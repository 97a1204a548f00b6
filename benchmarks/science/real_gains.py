"""What a graph adds on real data: the best trained models with it and without it.

    python benchmarks/science/real_gains.py                        # all graphs, small ones first
    python benchmarks/science/real_gains.py --graphs texas,tolokers
    python benchmarks/science/real_gains.py --show  # the table, from the records alone

Without a graph: mlp-2 on row-normalised, raw and (dense features) standardised columns with several
settings, and gradient-boosted trees. With one: gcn, acm-gcn, acmii-gcn+, acm-gcn++, linkx and
glognn, each with and without ``row_normalize``, and trees on own columns beside those of the
neighbours (ÂX, X - ÂX, Â²X, degree) and the shares of classes among training neighbours. Runs of
the same models on the same fixed splits are taken from ``results/tables`` and
``results/zoo-fixed-splits``, and the record says so.

Three splits (ten below 1,000 nodes, one of the largest graphs): fixed ones where the data has
them, else stratified 60/20/20. The score is accuracy, or ROC AUC for two classes of unequal size.
On either side the variant with the best mean validation score is chosen; test scores enter no
choice; ± is the standard deviation of the gain over the splits. One JSON record per graph
under ``results/real-gains/``, rewritten after each training: a run that was stopped goes on where
it was. Larger graphs get fewer settings and epochs (``real_gain/graphs.py``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from real_gain.graphs import GRAPHS, open_real, plan_for, splits_for
from real_gain.networks import Network, networks
from real_gain.reuse import reused
from real_gain.trees import SETS, Trees

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import HeterophilyError
from heterophily.evaluation.scores import SCORES, score_for
from heterophily.runs.record import versions

FOLDER = shared.RESULTS / "real-gains"
Variant = Network | Trees
Record = dict[str, Any]


def variants(graph: Graph, record: Record) -> Iterator[Variant]:
    """Return all variants that have to be trained here, trees first."""
    plan = plan_for(graph)
    for name in SETS:
        yield Trees(name, plan.tree_rounds, plan.tree_columns)
    yield from networks(graph, plan, set(record["reused"]))


def started(name: str, graph: Graph, path: Path) -> tuple[Record, list[Split]]:
    """Return the record of a graph, as far as it is, and its splits."""
    plan = plan_for(graph)
    rule, splits = splits_for(graph, plan.splits)
    if path.is_file():
        return shared.read_json(path), splits
    record = {
        "graph": name,
        "score": score_for(graph.labels),
        "split_rule": rule,
        "splits": len(splits),
        "max_epochs": plan.max_epochs,
        "reused": reused(name, len(splits)) if rule == "fixed" else {},
        "variants": {},
        "versions": versions(),
    }
    return record, splits


def trained(variant: Variant, graph: Graph, split: Split, number: int, score: str) -> Record:
    """Train a variant on a split; a training that fails has no score and says why."""
    begin = time.process_time()
    try:
        chances = variant.probabilities(graph, split, number)
    except (HeterophilyError, RuntimeError, ValueError, MemoryError) as error:
        return {"validation": None, "test": None, "why": f"{type(error).__name__}: {error}"[:200]}
    values = {
        part: round(SCORES[score](graph.labels[nodes], chances[nodes]), 5)
        for part, nodes in (("validation", split.validation), ("test", split.test))
    }
    return {**values, "cpu_seconds": round(time.process_time() - begin, 1)}


def run(name: str, folder: Path, most: int) -> None:
    """Train what the record of a graph lacks, on at most so many splits."""
    path = folder / f"{name}.json"
    graph = open_real(name)
    record, splits = started(name, graph, path)
    record["planned"] = [variant.name for variant in variants(graph, record)]
    for number, split in enumerate(splits[:most]):
        for variant in variants(graph, record):
            cell = record["variants"].setdefault(
                variant.name, {"uses_graph": variant.uses_graph, "runs": {}}
            )
            if str(number) in cell["runs"]:
                continue
            done = trained(variant, graph, split, number, record["score"])
            cell["runs"][str(number)] = done
            shared.write_json(path, record)
            print(f"{name:18} split {number} {variant.name:45} {done}", flush=True)


# --- the table -----------------------------------------------------------------------------------


def finished(record: Record) -> list[str]:
    """Return the numbers of the splits on which everything planned was trained."""
    numbers = [str(number) for number in range(record["splits"])]
    cells = [record["variants"].get(name, {"runs": {}})["runs"] for name in record["planned"]]
    return [number for number in numbers if all(number in runs for runs in cells)]


def best(record: Record, numbers: list[str], *, uses_graph: bool) -> tuple[str, list[float]]:
    """Return the variant with the best mean validation score, and its test scores."""
    cells = {
        name: cell["runs"]
        for name, cell in record["variants"].items()
        if cell["uses_graph"] == uses_graph
    }
    if uses_graph:
        cells |= {f"{name} (reused)": cell["runs"] for name, cell in record["reused"].items()}
    found = []
    for name, runs in cells.items():
        values = [runs[number]["validation"] for number in numbers]
        if None not in values:
            found.append((float(np.mean(values)), name, [runs[n]["test"] for n in numbers]))
    _, name, tests = max(found)
    return name, tests


def gain_of(record: Record) -> tuple[float, float] | None:
    """Return the gain with a graph and its standard error, fractions; None before any split.

    Of one split the error is not known; one point stands for it.
    """
    numbers = finished(record)
    if not numbers:
        return None
    without, with_graph = (best(record, numbers, uses_graph=uses)[1] for uses in (False, True))
    gains = np.array(with_graph) - np.array(without)
    error = gains.std(ddof=1) / np.sqrt(gains.size) if gains.size > 1 else 0.01
    return float(gains.mean()), float(error)


def row(record: Record) -> list[str] | None:
    """Return a line of the table, or None before any split is finished."""
    numbers = finished(record)
    if not numbers:
        return None
    without, with_graph = (best(record, numbers, uses_graph=uses) for uses in (False, True))
    gains = 100 * (np.array(with_graph[1]) - np.array(without[1]))
    spread = f" ± {gains.std(ddof=1):.1f}" if gains.size > 1 else ""
    return [
        record["graph"],
        record["score"],
        f"{len(numbers)} of {record['splits']} {record['split_rule']}",
        f"{100 * np.mean(without[1]):.1f}",
        f"{100 * np.mean(with_graph[1]):.1f}",
        f"{gains.mean():+.1f}{spread}",
        without[0],
        with_graph[0],
    ]


def table(folder: Path) -> str:
    """Return the table of all records."""
    header = ("graph", "score", "splits", "without graph", "with graph", "gain", "best without",
              "best with")  # fmt: skip
    lines = [shared.head(header)]
    for name in GRAPHS:
        path = folder / f"{name}.json"
        cells = row(shared.read_json(path)) if path.is_file() else None
        if cells is not None:
            lines.append(shared.line(cells))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Train what is missing, then print the table."""
    parser = shared.parser(__doc__)
    parser.add_argument("--graphs", default=list(GRAPHS), type=shared.names)
    parser.add_argument("--folder", default=FOLDER, type=Path)
    parser.add_argument("--splits", default=10, type=int, help="at most so many of each graph")
    parser.add_argument("--show", action="store_true", help="train nothing, print the table")
    options = parser.parse_args(argv)
    if options.quick:
        graph = open_real("texas")
        _, (split,) = splits_for(graph, 1)
        some = Trees("trees own", 10, 8), Network("gcn", "rows", 0.01, 5e-4, 10)
        for variant in some:
            print(variant.name, trained(variant, graph, split, 0, "accuracy"))
    elif not options.show:
        try:
            for name in options.graphs:
                run(name, options.folder, options.splits)
        except KeyboardInterrupt:
            print("stopped; finished trainings are kept")
    print(table(options.folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
