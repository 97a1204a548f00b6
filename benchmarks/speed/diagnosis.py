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

import cProfile
import os
import pstats
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Spent, apart, head, line, memory_mb, names, parser

if TYPE_CHECKING:
    from heterophily.data.graph import Graph

EMBEDDED = ("davis", "karate", "digits")
REAL = ("cora", "deezer-europe", "acl-year", "debian-trixie")
LARGE = "generated-1e6"
GOALS = {"cora": 6, "deezer-europe": 60, "acl-year": 60, LARGE: 60}  # processor seconds
DEMO_GOAL, MEMORY_GOAL = 10, 2000  # processor seconds together; MB, of the large graph
NODES, EDGES, FEATURES, CLASSES = 1_000_000, 5_000_000, 32, 5


def open_named(name: str) -> Graph:
    """Return a graph of this benchmark."""
    import numpy as np

    from heterophily.cli.demo import DIGITS_HOMOPHILY
    from heterophily.data.catalog import DATASETS, FOLDER_VARIABLE, load
    from heterophily.data.embedded import digits_features
    from heterophily.data.source import open_graph

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
    import numpy as np

    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph

    return edge_homophily_graph(
        homophily=homophily,
        edges=edges,
        features=features,
        labels=labels,
        rng=np.random.default_rng(0),
        name=name,
    )


def measure(name: str, *, quick: bool, profile: bool) -> dict[str, Any] | None:
    """Diagnose one graph; return None when it is not there."""
    from heterophily.diagnosis.diagnose import diagnose
    from heterophily.errors import HeterophilyError

    try:
        graph = open_named(name)
    except HeterophilyError:
        return None
    before, found, profiler = memory_mb("VmHWM"), [], cProfile.Profile()

    def work() -> None:
        found.append(diagnose(graph, quick=quick))

    spent = Spent.on((lambda: profiler.runcall(work)) if profile else work)
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumulative").print_stats(35)
    verdict = found[0].verdict
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "spent": spent,
        "before": before,
        "peak": memory_mb("VmHWM"),
        "verdict": f"{verdict.kind} ({verdict.confidence})",
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--graphs", type=names, help="names, separated by commas")
    options.add_argument("--large", action="store_true", help="also 1e6 nodes and 5e6 edges")
    options.add_argument("--only", choices=("full", "quick"), help="one of the two diagnoses")
    options.add_argument("--profile", action="store_true", help="print where the time goes")
    given = options.parse_args()
    wanted = [*EMBEDDED, *REAL, *((LARGE,) if given.large else ())]
    wanted = given.graphs or (EMBEDDED[:1] if given.quick else wanted)
    titles = ["graph", "nodes", "edges", "diagnosis", "s", "CPU s", "goal"]
    print(head([*titles, "peak MB", "before", "verdict"]))
    demo = 0.0
    for name in wanted:
        for kind in ("full", "quick") if given.only is None else (given.only,):
            found = apart(measure, name, quick=kind == "quick", profile=given.profile).value
            if found is None:
                print(line([name, "is not in the data folder", *[""] * 8]), flush=True)
                break
            spent = found["spent"]
            demo += spent.cpu * (name in EMBEDDED and kind == "full")
            sizes = [f"{found['nodes']:,}", f"{found['edges']:,}"]
            goal = GOALS.get(name, "") if kind == "full" else ""
            cost = [f"{spent.wall:.1f}", f"{spent.cpu:.1f}", goal]
            memory = [f"{found['peak']:.0f}", f"{found['before']:.0f}"]
            print(line([name, *sizes, kind, *cost, *memory, found["verdict"]]), flush=True)
    if set(EMBEDDED) <= set(wanted):
        print(f"\nThe three graphs of the demo: {demo:.1f} CPU seconds (goal {DEMO_GOAL}).")
    if LARGE in wanted:
        print(f"\nGoal of the peak memory of {LARGE}: {MEMORY_GOAL} MB.")


if __name__ == "__main__":
    main()
