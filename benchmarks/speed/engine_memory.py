"""Peak memory that training in the native engine adds to a process that holds the graph.

Each measurement is a fresh process: it imports everything, loads the graph, sets the kernel's
high-water mark back to the present (``/proc/self/clear_refs``, Linux), prepares the inputs and
trains. Printed is the high-water mark less the memory before. Goals: squirrel 90 MB, pubmed 300,
deezer-europe 600.

    python benchmarks/speed/engine_memory.py [--engine torch] [--model acm-gcn] [--epochs 20]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

GOALS = {"squirrel": 90, "pubmed": 300, "deezer-europe": 600}  # MB


def resident(field: str) -> float:
    """Memory of this process in MB: ``VmRSS`` (now) or ``VmHWM`` (largest so far)."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"the kernel does not report {field}")


def measure(model: str, name: str, engine: str, epochs: int) -> float:
    """Megabytes that inputs, buffers and training add."""
    import heterophily.engine.run  # noqa: F401  (imported before the mark is set)
    from heterophily.comparison.train import train
    from heterophily.data.source import open_graph
    from heterophily.data.splits import random_splits
    from heterophily.paper.presets import recipe

    protocol = "fixed" if name == "deezer-europe" else "random"
    chosen = recipe("paper", model, name, protocol)
    graph = open_graph(name, offline=True, **chosen.graph)
    splits = graph.splits or random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    report = train(
        model,
        graph,
        splits=splits,
        repeats=1,
        workers=1,
        options=chosen.options,
        config=chosen.config.replace(max_epochs=epochs, stopping="none"),
        engine=engine,
    )
    if report.results.engine != engine:
        raise SystemExit(report.results.engine_note)
    return resident("VmHWM") - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="acm-gcn")
    parser.add_argument("--datasets", default=",".join(GOALS))
    parser.add_argument("--engine", default="native", choices=("native", "torch"))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--one", action="store_true", help="measure in this process")
    arguments = parser.parse_args()
    names = arguments.datasets.split(",")
    if arguments.one:
        print(measure(arguments.model, names[0], arguments.engine, arguments.epochs))
        return
    print(f"| {arguments.model}, {arguments.engine} | extra MB | goal |\n|---|---|---|")
    for name in names:
        command = [sys.executable, __file__, "--one", "--datasets", name]
        for option in ("model", "engine", "epochs"):
            command += [f"--{option}", str(getattr(arguments, option))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        goal = GOALS.get(name, "")
        print(f"| {name} | {float(done.stdout):.0f} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
