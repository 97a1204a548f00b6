"""How far the native engine is from the speed of the caches and the memory.

Counts the bytes that an epoch of the two-layer ACM-GCN moves (docs/research/2026-11-18-roofline.md has the formulas),
measures how fast this processor moves bytes of each kind from tables of the sizes in question,
trains, and prints the time beside the bound. Everything is measured in CPU time on one thread,
interleaved; medians.

    python benchmarks/speed/roofline.py [--datasets squirrel,pubmed] [--epochs 25] [--rounds 7]
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from native_epochs import NativeEpochs, Network, first_split, published
from shared import Spent, Ways, head, interleaved, line, median_ms, names, parser

from heterophily.models.catalog import MODELS
from heterophily.native.library import engine
from heterophily.native.quotient import quotient_of
from heterophily.paper.presets import Recipe

MODEL = "acm-gcn"
GOAL = 1.6
FLOAT = 4
ENTRY = 8  # index and value of a stored entry
COLUMNS = 64  # of the rows that the measuring kernel gathers
DEGREE = 40  # rows that it adds up in registers before it begins anew
MEASURED_BYTES = 2**26  # moved by one measurement


@dataclass(frozen=True)
class Move:
    """Bytes of one kind: ``gather`` (rows of a table in any order) or ``stream`` (in order)."""

    what: str
    kind: str
    megabytes: float
    table: float  # MB of the table or of the arrays that are passed through


@dataclass(frozen=True)
class Sizes:
    """What the bytes of an epoch depend on."""

    nodes: int
    features: int
    entries: int  # stored features
    reads: int  # rows that one product with A_hat gathers
    operator: int  # stored entries of A_hat, or of its quotient
    classes: int
    hidden: int
    rate: float  # dropout of the features
    train: float  # shares of the nodes
    validation: float


def sizes_of(network: Network, chosen: Recipe) -> Sizes:
    graph, inputs, split = network.graph, network.inputs, network.split
    matrix = inputs.operator.matrix
    parts = (matrix.values.numpy(), matrix.indices.numpy(), matrix.indptr.numpy())
    found = quotient_of(sp.csr_array(parts, shape=matrix.shape))
    features = inputs.features
    reads = matrix.num_nonzeros if found is None else found.members.nnz + found.classes.nnz
    return Sizes(
        nodes=graph.num_nodes,
        features=inputs.num_features,
        entries=features.numel() if isinstance(features, Tensor) else features.matrix.num_nonzeros,
        reads=reads,
        operator=reads,
        classes=graph.num_classes,
        hidden=chosen.options["hidden"],
        rate=chosen.options["dropout"],
        train=float(split.train.mean()),
        validation=float(split.validation.mean()),
    )


def moves(of: Sizes) -> list[Move]:
    """The bytes of an epoch: training step and evaluation (docs/research/2026-11-18-roofline.md)."""
    row = of.hidden * FLOAT  # bytes of a node's signal in one channel
    packed = -(-2 * of.classes // 16) * 16 * FLOAT  # low and high pass of the output layer
    panel, weight = of.nodes * row, of.features * row
    kept = 1 - of.rate
    entries = of.entries * ENTRY
    # The gradient of the weights: rows of D gathered by feature, or, with few features and many
    # nodes, rows of the gradient read and written by node.
    by_node = 4 * weight < panel
    found = [
        ("X W, evaluation and next step", "gather", 3 * of.entries * row, weight),
        (
            f"Xᵀ D, by {'node' if by_node else 'feature'}",
            "gather",
            (2 if by_node else 1) * 3 * kept * of.entries * row,
            weight if by_node else panel,
        ),
        ("Â P: training, evaluation, backward", "gather", 3 * 2 * of.reads * row, panel),
        (
            "Â P of the output layer",
            "gather",
            (of.train + of.validation + 1) * of.reads * packed,
            of.nodes * packed,
        ),
        ("entries of X", "stream", 3 * (1 + kept) * entries, entries),
        ("entries of Â", "stream", 3 * 2 * of.operator * ENTRY, of.operator * ENTRY),
        ("weights and both moments, read and written", "stream", 3 * 6 * weight, 9 * weight),
        ("P of three channels: written, read", "stream", 2 * 2 * 3 * panel, 3 * panel),
        ("Y of two channels: written, read twice", "stream", (2 + 3) * 2 * panel, 2 * panel),
        ("G and D of three channels: written, read", "stream", 2 * 2 * 3 * panel, 3 * panel),
        ("hidden state: written, read, its gradient", "stream", 5 * panel, panel),
    ]
    return [Move(what, kind, size / 1e6, table / 1e6) for what, kind, size, table in found]


class Gather:
    """Rows of 256 bytes from a table, in an order that no prefetcher foresees."""

    def __init__(self, library: Any, megabytes: float, moved: int) -> None:
        rows = max(1, int(megabytes * 1e6) // (COLUMNS * FLOAT))
        self.table = aligned(rows * COLUMNS)
        rng = np.random.default_rng(0)
        count = moved // (COLUMNS * FLOAT)
        self.indices = rng.integers(0, rows, count, dtype=np.int32)
        self.total = aligned(COLUMNS)
        self.call = library.hp_gather_rows

    @property
    def moved(self) -> int:
        """Bytes of a call."""
        return self.indices.size * COLUMNS * FLOAT

    def __call__(self) -> None:
        """Gather."""
        self.call(
            ctypes.c_void_p(self.table.ctypes.data),
            ctypes.c_void_p(self.indices.ctypes.data),
            ctypes.c_int64(self.indices.size),
            ctypes.c_int64(DEGREE),
            ctypes.c_void_p(self.total.ctypes.data),
        )


class Stream:
    """An array that is read and written in order."""

    def __init__(self, library: Any, megabytes: float, moved: int) -> None:
        self.array = aligned(max(COLUMNS, int(megabytes * 1e6) // FLOAT))
        self.rounds = max(1, moved // (2 * self.array.nbytes))
        self.call = library.hp_update

    @property
    def moved(self) -> int:
        """Bytes of a call."""
        return 2 * self.array.nbytes * self.rounds

    def __call__(self) -> None:
        """Pass through the array."""
        self.call(
            ctypes.c_void_p(self.array.ctypes.data),
            ctypes.c_int64(self.array.size),
            ctypes.c_int64(self.rounds),
        )


KINDS: dict[str, Callable[[Any, float, int], Gather | Stream]] = {
    "gather": Gather,
    "stream": Stream,
}


def aligned(floats: int) -> np.ndarray:
    """Zeros at an address that is a multiple of 64."""
    memory = np.zeros(floats + 16, np.float32)
    shift = -memory.ctypes.data % 64 // FLOAT
    return memory[shift : shift + floats]


def gigabytes_per_second(probe: Gather | Stream, turns: Iterable[Spent]) -> float:
    return statistics.median(probe.moved / 1e9 / turn.cpu for turn in turns)


def roofline(name: str, epochs: int, rounds: int, library: Any, measured: int) -> None:
    graph, chosen = published(MODEL, name)
    spec = MODELS[MODEL].with_options(**chosen.options)
    network = Network.of(spec, graph, first_split(graph), chosen.config)
    trained, sizes = NativeEpochs(network), sizes_of(network, chosen)
    listed = moves(sizes)
    probes = {
        f"{move.kind} {move.table}": KINDS[move.kind](library, move.table, measured)
        for move in listed
    }
    ways: Ways = {**probes, "engine": lambda: trained.spent(epochs)}
    found = interleaved(ways, rounds, warm=False)
    print(f"\n{name}: {sizes}")
    print(head(["bytes of an epoch", "kind", "MB", "of a table of MB", "measured GB/s", "ms"]))
    bound = 0.0
    for move in listed:
        place = f"{move.kind} {move.table}"
        rate = gigabytes_per_second(probes[place], found[place])
        milliseconds = move.megabytes / rate
        bound += milliseconds
        numbers = f"{move.megabytes:.1f}", f"{move.table:.2f}", f"{rate:.0f}", f"{milliseconds:.2f}"
        print(line([move.what, move.kind, *numbers]))
    total, ms = sum(move.megabytes for move in listed), median_ms(found["engine"])
    print(
        f"\n{name}: {total:.0f} MB, bound {bound:.2f} ms, engine {ms:.2f} ms "
        f"({total / ms:.0f} GB/s), distance {ms / bound:.2f}x (goal {GOAL}x)"
    )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--datasets", default=["squirrel", "pubmed"], type=names)
    options.add_argument("--epochs", type=int, default=25)
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    torch.set_num_threads(1)
    native, measured = engine(), MEASURED_BYTES
    if native.library is None:
        raise SystemExit(f"no native engine: {native.reason}")
    if given.quick:
        given.datasets, given.epochs, given.rounds, measured = ["texas"], 20, 1, 2**20
    print(f"{MODEL}, {native.isa}, one thread, CPU time, medians of {given.rounds} rounds")
    for name in given.datasets:
        roofline(name, given.epochs, given.rounds, native.library, measured)


if __name__ == "__main__":
    main()
