"""Generators at full size: seconds, memory, and whether the target homophily is met.

    python benchmarks/speed/generate.py [--nodes 1000000] [--edges 10000000] [--homophily 0.2]

Each generator draws in a process of its own, so that the peak memory is its own; features are two
Gaussian columns, which are drawn before the clock starts. Beside the wall time stands the
processor time, which does not grow when other programs share the machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.data.synthetic.class_homophily import class_homophily_graph
from heterophily.data.synthetic.degree_then_edges import degree_then_edges_graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.synthetic.features import gaussian_base
from heterophily.data.synthetic.regular import regular_graph
from heterophily.metrics.edge_homophily import edge_homophily

CLASSES = 5


def _edge_homophily(nodes: int, edges: int, homophily: float, **parts: Any) -> Graph:
    return edge_homophily_graph(homophily=homophily, edges=edges, **parts)


def _degree_then_edges(nodes: int, edges: int, homophily: float, **parts: Any) -> Graph:
    return degree_then_edges_graph(homophily=homophily, mean_degree=edges / nodes, **parts)


def _regular(nodes: int, edges: int, homophily: float, **parts: Any) -> Graph:
    return regular_graph(homophily=homophily, degree=round(edges / nodes), **parts)


def _class_homophily(nodes: int, edges: int, homophily: float, **parts: Any) -> Graph:
    return class_homophily_graph(class_homophily=homophily, mean_degree=2 * edges / nodes, **parts)


GENERATORS: Mapping[str, Callable[..., Graph]] = {
    "edge-homophily": _edge_homophily,
    "degree-then-edges": _degree_then_edges,
    "regular": _regular,
    "class-homophily": _class_homophily,
}


def measure(name: str, nodes: int, edges: int, homophily: float) -> dict[str, float]:
    """Draw one graph and return what it took, and what it has."""
    rng = np.random.default_rng(0)
    features, labels = gaussian_base([nodes // CLASSES] * CLASSES, rng=rng, num_features=2)
    before = _peak_megabytes()
    wall, processor = time.perf_counter(), time.process_time()
    graph = GENERATORS[name](nodes, edges, homophily, features=features, labels=labels, rng=rng)
    return {
        "seconds": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
        "megabytes": _peak_megabytes() - before,
        "graph": (graph.adjacency.data.nbytes + graph.adjacency.indices.nbytes) / 1e6,
        "edges": graph.num_edges,
        "homophily": edge_homophily(graph),
    }


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--homophily", type=float, default=0.2)
    chosen = parser.parse_args()
    print(f"{chosen.nodes:,} nodes, {chosen.edges:,} edges, target {chosen.homophily}\n")
    print("generator            edges        seconds  (processor)  peak MB  (graph)  homophily")
    context = multiprocessing.get_context("spawn")
    for name in GENERATORS:
        with context.Pool(1) as pool:
            found = pool.apply(measure, (name, chosen.nodes, chosen.edges, chosen.homophily))
        print(
            f"{name:<18} {found['edges']:>12,} {found['seconds']:>9.1f} {found['processor']:>12.1f}"
            f" {found['megabytes']:>9.0f} {found['graph']:>8.0f} {found['homophily']:>10.5f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
