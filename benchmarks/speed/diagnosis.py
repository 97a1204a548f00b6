"""What a diagnosis costs: seconds, processor seconds and peak memory, in full and quick.

    python benchmarks/speed/diagnosis.py  # embedded graphs, and those that are there
    python benchmarks/speed/diagnosis.py --large              # also a generated graph of 1e6 nodes
    python benchmarks/speed/diagnosis.py --graphs cora --profile   # where the time goes
    python benchmarks/speed/diagnosis.py --quick              # the smallest graph only, a test

Each diagnosis runs in a process of its own. The clock starts when the graph is there and the
package is imported; what the diagnosis itself imports on first use counts. Processor seconds do
not grow when other programs share the machine. Peak memory is that of the whole process: the
interpreter, the graph and the diagnosis.

Goals of the full diagnosis, in processor seconds: cora 6, the three graphs of ``heterophily demo``
10 together, deezer-europe and acl-year 60, a generated graph of 1e6 nodes, 5e6 edges, 32 features
and 5 classes 60 with at most 2 GB.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.cli.demo import DIGITS_HOMOPHILY
from heterophily.data.catalog import DATASETS, FOLDER_VARIABLE, load
from heterophily.data.embedded import digits_features
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.diagnosis.diagnose import diagnose
from heterophily.errors import HeterophilyError

EMBEDDED = ("davis", "karate", "digits")
REAL = ("cora", "deezer-europe", "acl-year", "debian-trixie")
LARGE = "generated-1e6"
GOALS = {"cora": 6, "deezer-europe": 60, "acl-year": 60, LARGE: 60}  # processor seconds
DEMO_GOAL, MEMORY_GOAL = 10, 2000  # processor seconds together; MB, of the large graph
NODES, EDGES, FEATURES, CLASSES = 1_000_000, 5_000_000, 32, 5


def open_named(name: str) -> Graph:
    """Return a graph of this benchmark."""
    if name == "digits":
        features, labels = digits_features()
        return _generated(DIGITS_HOMOPHILY, 5 * labels.size, features, labels, name)
    if name == LARGE:
        rng = np.random.default_rng(0)
        labels = rng.integers(0, CLASSES, NODES)
        features = rng.standard_normal((NODES, FEATURES), dtype=np.float32)
        features[:, :CLASSES] += np.eye(CLASSES, dtype=np.float32)[labels]
        return _generated(0.3, EDGES, features, labels, name)
    if name in DATASETS:
        return load(name, offline=True)
    return open_graph(Path(os.environ.get(FOLDER_VARIABLE, ".")) / f"{name}.npz")


def _generated(homophily: float, edges: int, features: Any, labels: Any, name: str) -> Graph:
    return edge_homophily_graph(
        homophily=homophily,
        edges=edges,
        features=features,
        labels=labels,
        rng=np.random.default_rng(0),
        name=name,
    )


def measure(name: str, *, quick: bool, profile: bool) -> dict[str, Any]:
    """Diagnose one graph in this process."""
    graph = open_named(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, clock = time.process_time(), time.perf_counter()
    profiler = cProfile.Profile()
    found = (
        profiler.runcall(diagnose, graph, quick=quick) if profile else diagnose(graph, quick=quick)
    )
    measured = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "seconds": time.perf_counter() - clock,
        "cpu": time.process_time() - start,
        "before": before / 1000,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "verdict": f"{found.verdict.kind} ({found.verdict.confidence})",
    }
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumulative").print_stats(35)
    return measured


def in_fresh_process(name: str, *, quick: bool, profile: bool) -> dict[str, Any] | None:
    """Return what a new process measures; None when the graph is not there."""
    command = [sys.executable, __file__, "--one", "--graphs", name]
    command += ["--only", "quick" if quick else "full"] + ["--profile"] * profile
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    found: dict[str, Any] | None = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", help="names, separated by commas")
    parser.add_argument("--large", action="store_true", help="also 1e6 nodes and 5e6 edges")
    parser.add_argument("--only", choices=("full", "quick"), help="one of the two diagnoses")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--quick", action="store_true", help="the smallest graph only")
    parser.add_argument("--one", action="store_true", help="measure in this process, print JSON")
    arguments = parser.parse_args()
    names = (*EMBEDDED, *REAL, *((LARGE,) if arguments.large else ()))
    if arguments.quick:
        names = EMBEDDED[:1]
    if arguments.graphs:
        names = tuple(arguments.graphs.split(","))
    if arguments.one:
        try:
            found = measure(names[0], quick=arguments.only == "quick", profile=arguments.profile)
        except HeterophilyError:
            found = None
        print(json.dumps(found))
        return
    print("| graph | nodes | edges | diagnosis | s | CPU s | goal | peak MB | before | verdict |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    demo = 0.0
    for name in names:
        for kind in ("full", "quick") if arguments.only is None else (arguments.only,):
            found = in_fresh_process(name, quick=kind == "quick", profile=arguments.profile)
            if found is None:
                print(f"| {name} | is not in the data folder | | | | | | | | |", flush=True)
                break
            goal = GOALS.get(name, "") if kind == "full" else ""
            demo += found["cpu"] * (name in EMBEDDED and kind == "full")
            print(
                f"| {name} | {found['nodes']:,} | {found['edges']:,} | {kind} "
                f"| {found['seconds']:.1f} | {found['cpu']:.1f} | {goal} | {found['peak']:.0f} "
                f"| {found['before']:.0f} | {found['verdict']} |",
                flush=True,
            )
    if set(EMBEDDED) <= set(names):
        print(f"\nThe three graphs of the demo: {demo:.1f} CPU seconds (goal {DEMO_GOAL}).")
    if LARGE in names:
        print(f"\nGoal of the peak memory of {LARGE}: {MEMORY_GOAL} MB.")


if __name__ == "__main__":
    main()
