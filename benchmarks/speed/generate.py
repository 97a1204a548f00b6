"""Generators at full size: seconds, memory, and whether the target homophily is met.

    python benchmarks/speed/generate.py [--nodes 1000000] [--edges 10000000] [--homophily 0.2]

Each generator draws in a process of its own, so that the peak memory is its own; features are two
Gaussian columns, which are drawn before the clock starts. Beside the wall time stands the
processor time, which does not grow when other programs share the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Spent, apart, memory_mb, parser

CLASSES = 5


def generators(nodes: int, edges: int, homophily: float) -> dict[str, Callable[..., Any]]:
    """Return by name what draws a graph of this size."""
    from functools import partial

    from heterophily.data.synthetic.class_homophily import class_homophily_graph
    from heterophily.data.synthetic.degree_then_edges import degree_then_edges_graph
    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
    from heterophily.data.synthetic.regular import regular_graph

    mean = edges / nodes
    return {
        "edge-homophily": partial(edge_homophily_graph, homophily=homophily, edges=edges),
        "degree-then-edges": partial(
            degree_then_edges_graph, homophily=homophily, mean_degree=mean
        ),
        "regular": partial(regular_graph, homophily=homophily, degree=round(mean)),
        "class-homophily": partial(
            class_homophily_graph, class_homophily=homophily, mean_degree=2 * mean
        ),
    }


NAMES = ("edge-homophily", "degree-then-edges", "regular", "class-homophily")


def measure(name: str, nodes: int, edges: int, homophily: float) -> dict[str, Any]:
    """Draw one graph and return what it took, and what it has."""
    import numpy as np

    from heterophily.data.synthetic.features import gaussian_base
    from heterophily.metrics.edge_homophily import edge_homophily

    draw = generators(nodes, edges, homophily)[name]
    rng = np.random.default_rng(0)
    features, labels = gaussian_base([nodes // CLASSES] * CLASSES, rng=rng, num_features=2)
    before, drawn = memory_mb("VmHWM"), []
    spent = Spent.on(lambda: drawn.append(draw(features=features, labels=labels, rng=rng)))
    graph = drawn[0]
    return {
        "spent": spent,
        "megabytes": memory_mb("VmHWM") - before,
        "graph": (graph.adjacency.data.nbytes + graph.adjacency.indices.nbytes) / 1e6,
        "edges": graph.num_edges,
        "homophily": edge_homophily(graph),
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=10_000_000)
    options.add_argument("--homophily", type=float, default=0.2)
    given = options.parse_args()
    if given.quick:
        given.nodes, given.edges = 1_000, 10_000
    print(f"{given.nodes:,} nodes, {given.edges:,} edges, target {given.homophily}\n")
    print("generator            edges        seconds  (processor)  peak MB  (graph)  homophily")
    for name in NAMES:
        found = apart(measure, name, given.nodes, given.edges, given.homophily).value
        spent = found["spent"]
        print(
            f"{name:<18} {found['edges']:>12,} {spent.wall:>9.1f} {spent.cpu:>12.1f}"
            f" {found['megabytes']:>9.0f} {found['graph']:>8.0f} {found['homophily']:>10.5f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
