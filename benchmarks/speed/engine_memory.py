"""Peak memory that training in the native engine adds to a process that holds the graph.

Each measurement is a process of its own: it imports everything, loads the graph, sets the kernel's
high-water mark back to the present (``/proc/self/clear_refs``, Linux), prepares the inputs and
trains. Printed is the high-water mark less the memory before. Goals: squirrel 90 MB, pubmed 300,
deezer-europe 600.

    python benchmarks/speed/engine_memory.py [--engine torch] [--model acm-gcn] [--epochs 20]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import apart, forget_peak, head, line, memory_mb, names, parser

GOALS = {"squirrel": 90, "pubmed": 300, "deezer-europe": 600}  # MB


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
    before = memory_mb("VmRSS")
    forget_peak()
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
    return memory_mb("VmHWM") - before


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--model", default="acm-gcn")
    options.add_argument("--datasets", default=list(GOALS), type=names)
    options.add_argument("--engine", default="native", choices=("native", "torch"))
    options.add_argument("--epochs", type=int, default=20)
    given = options.parse_args()
    if given.quick:
        given.datasets, given.epochs = ["texas"], 2
    print(head([f"{given.model}, {given.engine}", "extra MB", "goal"]))
    for name in given.datasets:
        extra = apart(measure, given.model, name, given.engine, given.epochs).value
        print(line([name, f"{extra:.0f}", GOALS.get(name, "")]), flush=True)


if __name__ == "__main__":
    main()
