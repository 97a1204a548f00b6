"""Time of an epoch with several builds of the native engine, alternating in one process.

Each library is a file made by ``python setup.py build_ext --build-lib FOLDER`` in some version of
the sources. Libraries take turns on the same network, split and seed; printed are CPU milliseconds
of an epoch (the smallest of all turns, which a busy machine disturbs least) and the ratios to the
first library, with their geometric mean.

    python benchmarks/speed/engine_builds.py before/_native_avx2.so after/_native_avx2.so
    python benchmarks/speed/engine_builds.py OLD NEW --datasets texas,cora --models acm-gcn --turns 9
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from unittest import mock

import torch

from heterophily.data.source import open_graph
from heterophily.data.splits import random_splits
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.run import run
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.native.library import NativeLibrary, declared
from heterophily.paper.presets import recipe
from heterophily.training.replica import Replica

DATASETS = "texas,cora,chameleon,squirrel"
NETWORKS = "acm-gcn,acmii-gcn,acm-gcn+"
SECONDS_PER_TURN, SHORTEST_EPOCH = 0.4, 0.0004


class Epochs:
    """A network with the paper's hyper-parameters on a dataset, trained by any library."""

    def __init__(self, name: str, model: str) -> None:
        chosen = recipe("paper", model, name, "random")
        options = dict(chosen.options)
        if model.endswith("+"):  # with the structure channel everywhere, as in training.py
            options |= {"with_structure": True, "mix_scale": 1.0, "row_normalize": False}
        graph = open_graph(name, **chosen.graph)
        spec = MODELS[model].with_options(**options)
        inputs = GraphInputs.from_graph(graph, spec.inputs)
        torch.manual_seed(0)
        self.network = spec.build(
            num_nodes=inputs.num_nodes,
            num_features=inputs.num_features,
            num_classes=graph.num_classes,
        )
        self.labels = graph.labels
        self.split = random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]
        self.config = chosen.config.replace(stopping="none")
        self.buffers = GraphBuffers(inputs, graph.labels, graph.num_classes)

    def milliseconds(self, library: ctypes.CDLL, epochs: int) -> float:
        """CPU time of an epoch: a run less one of a single epoch, from the same start."""
        short, long = self._seconds(library, 1), self._seconds(library, 1 + epochs)
        return 1000 * (long - short) / epochs

    def _seconds(self, library: ctypes.CDLL, epochs: int) -> float:
        task = Replica(lambda: self.network, self.split, self.config.replace(max_epochs=epochs), 0)
        used = NativeLibrary(None, "named on the command line", library)
        with mock.patch("heterophily.engine.run.engine", return_value=used):
            before = time.process_time()
            run([task], self.buffers, self.labels, keep_state=False)
            return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("libraries", nargs="+", help="shared libraries; the first is the yardstick")
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--turns", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    libraries = [declared(ctypes.CDLL(path)) for path in arguments.libraries]
    ratios: list[list[float]] = [[] for _ in libraries]
    for model in arguments.models.split(","):
        for name in arguments.datasets.split(","):
            epochs = Epochs(name, model)
            once = epochs.milliseconds(libraries[0], 25) / 1000  # noise, on a busy machine
            count = max(5, int(SECONDS_PER_TURN / max(once, SHORTEST_EPOCH)))
            times: list[list[float]] = [[] for _ in libraries]
            for _ in range(arguments.turns):
                for place, library in enumerate(libraries):
                    times[place].append(epochs.milliseconds(library, count))
            best = [min(values) for values in times]
            for place, value in enumerate(best):
                ratios[place].append(value / best[0])
            shown = "".join(f"{value:9.3f} ms {value / best[0]:6.3f}" for value in best)
            print(f"{model:10} {name:10}{shown}", flush=True)
    means = "".join(f"{'':12} {statistics.geometric_mean(values):6.3f}" for values in ratios)
    print(f"{'geometric mean':21}{means}")


if __name__ == "__main__":
    main()
