"""Time of an epoch with several builds of the native engine, alternating in one process.

Each library is a file made by ``python setup.py build_ext --build-lib FOLDER`` in some version of
the sources. Libraries take turns on the same network, split and seed; printed are CPU milliseconds
of an epoch (the smallest of all turns, which a busy machine disturbs least) and the ratios to the
first library, with their geometric mean.

    python benchmarks/speed/engine_builds.py before/_native_avx2.so after/_native_avx2.so
    python benchmarks/speed/engine_builds.py OLD NEW --datasets texas,cora --models acm-gcn --turns 9
    python benchmarks/speed/engine_builds.py --quick  # the library of this package beside itself
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from native_epochs import NativeEpochs, published_network
from shared import interleaved, names, parser

from heterophily.native.library import declared, engine

DATASETS = ["texas", "cora", "chameleon", "squirrel"]
NETWORKS = ["acm-gcn", "acmii-gcn", "acm-gcn+"]
SECONDS_PER_TURN, SHORTEST_EPOCH = 0.4, 0.0004


def compared(
    model: str, dataset: str, libraries: list[ctypes.CDLL], turns: int, longest: float
) -> list[float]:
    """Return the smallest CPU milliseconds of an epoch with each library."""
    network = NativeEpochs(published_network(model, dataset))
    once = network.spent(25, library=libraries[0]).cpu  # noise, on a busy machine
    count = max(5, int(longest / max(once, SHORTEST_EPOCH)))
    ways = {
        str(place): lambda library=library: network.spent(count, library=library)
        for place, library in enumerate(libraries)
    }
    found = interleaved(ways, turns, warm=False)
    return [1000 * min(turn.cpu for turn in turns) for turns in found.values()]


def main() -> None:
    options = parser(__doc__)
    options.add_argument(
        "libraries", nargs="*", help="shared libraries; the first is the yardstick"
    )
    options.add_argument("--datasets", default=DATASETS, type=names)
    options.add_argument("--models", default=NETWORKS, type=names)
    options.add_argument("--turns", type=int, default=7)
    given = options.parse_args()
    torch.set_num_threads(1)
    libraries, longest = [declared(ctypes.CDLL(path)) for path in given.libraries], SECONDS_PER_TURN
    if given.quick:
        given.datasets, given.models, given.turns, longest = ["texas"], ["acm-gcn"], 1, 0.05
        libraries = libraries or [engine().library] * 2
    if not libraries:
        options.error("name a library, or two")
    ratios: list[list[float]] = [[] for _ in libraries]
    for model in given.models:
        for name in given.datasets:
            best = compared(model, name, libraries, given.turns, longest)
            for place, value in enumerate(best):
                ratios[place].append(value / best[0])
            shown = "".join(f"{value:9.3f} ms {value / best[0]:6.3f}" for value in best)
            print(f"{model:10} {name:10}{shown}", flush=True)
    means = "".join(f"{'':12} {statistics.geometric_mean(values):6.3f}" for values in ratios)
    print(f"{'geometric mean':21}{means}")


if __name__ == "__main__":
    main()
