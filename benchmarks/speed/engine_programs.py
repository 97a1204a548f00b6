"""Networks that are lists of steps: CPU time of an epoch in torch and in the native engine, interleaved in one run.

An epoch is a training step and an evaluation, with the defaults of the model, float32, one thread
for both. Printed are the smallest CPU milliseconds of all turns (which a busy machine disturbs
least), the median of the turns' ratios, and the geometric means of the medians. ``--group`` chooses
what is compared: residual stacks, or baselines of the paper. ``--threads`` trains
one network on a generated graph with one, two, .. threads of the engine instead. It prints wall
times, which ask for an idle machine, and the CPU time of the busiest thread (Linux), which does not:
threads that share the work evenly divide it.

    python benchmarks/speed/engine_programs.py
    python benchmarks/speed/engine_programs.py --group baselines --turns 3 --epochs 10
    python benchmarks/speed/engine_programs.py --datasets tolokers --models res-acm --turns 9
    python benchmarks/speed/engine_programs.py --threads 2 --models acm-gcn
    python benchmarks/speed/engine_programs.py --quick
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from native_epochs import NativeEpochs, Network
from shared import Spent, interleaved, machine, names, parser

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import Split
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch

GROUPS: dict[str, tuple[list[str], list[str]]] = {
    "stacks": (["minesweeper", "tolokers"], ["res-gcn", "res-sage", "res-acm", "res-acmii"]),
    "baselines": (
        ["texas", "chameleon", "squirrel", "cora"],
        [
            *("gprgnn", "appnp", "bernnet", "gcn+jk", "mixhop", "graphsage", "h2gcn", "linkx"),
            *("fsgnn", "gcnii", "gcnii*", "acm-gcnii", "acm-gcnii*"),
        ],
    ),
}
"""What may be compared: datasets and networks."""


def halves(graph: Graph) -> Split:
    """Half of the nodes train, a quarter each validate and test, as in Platonov et al. (2023)."""
    place = np.random.default_rng(0).permutation(graph.num_nodes) * 4 // graph.num_nodes
    known = graph.labels >= 0
    return Split(known & (place < 2), known & (place == 2), known & (place == 3))


def network_of(graph: Graph, model: str) -> Network:
    return Network.of(MODELS[model], graph, halves(graph), TrainConfig(stopping="none"))


def in_torch(of: Network, epochs: int) -> Spent:
    """Return the time of an epoch in torch."""
    batch = FullBatch(of.network, of.inputs, of.graph.labels, of.split, of.config)
    batch.step()

    def several() -> None:
        for _ in range(epochs):
            batch.step()
            batch.evaluate()

    return Spent.on(several).less(Spent(0.0, 0.0), by=epochs)


def compare(graphs: dict[str, Graph], models: list[str], turns: int, epochs: int) -> None:
    """Print both engines and their ratio for every network and dataset."""
    ratios: dict[tuple[str, str], float] = {}
    print("torch ms, native ms, torch / native (median of the turns)")
    for name, graph in graphs.items():
        for model in models:
            network = network_of(graph, model)
            native = NativeEpochs(network)
            found = interleaved(
                {
                    "torch": lambda network=network: in_torch(network, epochs),
                    "native": lambda native=native: native.spent(4 * epochs),
                },
                turns,
                warm=False,
            )
            slow, fast = ([1000 * turn.cpu for turn in found[way]] for way in ("torch", "native"))
            ratio = statistics.median(a / b for a, b in zip(slow, fast, strict=True))
            ratios[model, name] = ratio
            print(
                f"{name:12} {model:10} {min(slow):8.2f} {min(fast):8.2f} {ratio:6.2f}", flush=True
            )
    for model in models:
        own = [ratios[model, name] for name in graphs]
        cells = [f"{ratio:.1f}" for ratio in (*own, statistics.geometric_mean(own))]
        print(f"| {model} | {' | '.join(cells)} |")
    print(f"geometric mean {statistics.geometric_mean(ratios.values()):6.2f}")


def generated(nodes: int, edges: int) -> Graph:
    """A random graph with 64 dense features."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, nodes, (2, edges))
    keep = source != target
    features = rng.standard_normal((nodes, 64), dtype=np.float32)
    return Graph.from_edges(
        source[keep],
        target[keep],
        labels=rng.integers(0, 5, nodes),
        features=features,
        num_nodes=nodes,
    )


def cpu_of_threads() -> dict[str, float]:
    """Return the CPU seconds of every thread of this process so far."""
    ticks, found = os.sysconf("SC_CLK_TCK"), {}
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it ended meanwhile
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            found[task.name] = (int(fields[11]) + int(fields[12])) / ticks
    return found


class Busiest:
    """The CPU seconds of the busiest thread inside a ``with`` block."""

    def __enter__(self) -> Busiest:
        self.before, self.after = cpu_of_threads(), {}
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self._watch)
        self.watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.watcher.join()

    def _watch(self) -> None:
        while not self.over.wait(0.05):
            self.after |= cpu_of_threads()

    @property
    def seconds(self) -> float:
        spent = (after - self.before.get(name, 0.0) for name, after in self.after.items())
        return max(spent, default=0.0)


def scaling(threads: int, graph: Graph, model: str, turns: int, epochs: int) -> None:
    """Print what an epoch takes with 1 .. threads threads, alternating."""
    native = NativeEpochs(network_of(graph, model))
    print(f"{graph}: load {machine()['load']} at the start; seconds of {epochs} epochs")
    busiest: dict[int, list[float]] = {count: [] for count in range(1, threads + 1)}
    for _ in range(turns):
        for count, found in busiest.items():
            with Busiest() as busy:
                spent = native.whole(epochs, threads=count)
            found.append(busy.seconds)
            print(
                f"{model}: {count} threads: {spent.wall:.1f} wall, {spent.cpu:.1f} CPU in all, "
                f"{busy.seconds:.1f} CPU of the busiest",
                flush=True,
            )
    for count, found in busiest.items():
        if min(found) > 0:
            print(f"{count} threads: {min(busiest[1]) / min(found):.2f}x less CPU of the busiest")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--group", default="stacks", choices=GROUPS)
    options.add_argument("--datasets", type=names, help="others than those of the group")
    options.add_argument("--models", type=names, help="others than those of the group")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--threads", type=int, default=0)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=10_000_000)
    given = options.parse_args()
    datasets, models = GROUPS[given.group]
    given.datasets, given.models = given.datasets or datasets, given.models or models
    torch.set_num_threads(1)
    if given.quick:
        given.turns, given.epochs, given.models = 1, 2, ["res-gcn"]
        given.nodes, given.edges = 2_000, 10_000
    if given.quick or given.threads:
        graph = generated(given.nodes, given.edges)
        scaling(given.threads or 1, graph, given.models[0], given.turns, given.epochs)
    if given.quick:
        compare({"generated": graph}, given.models, given.turns, given.epochs)
    elif not given.threads:
        graphs = {name: open_graph(name) for name in given.datasets}
        compare(graphs, given.models, given.turns, given.epochs)


if __name__ == "__main__":
    main()
