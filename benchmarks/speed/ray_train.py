"""Two processes under Ray Train, one of them killed, beside one process alone.

    python benchmarks/speed/ray_train.py --folder /some/shared/folder

Trains acm-sign on a generated graph by one process, then by several under Ray Train; in the middle
one of these is killed with SIGKILL, Ray starts them again, and they go on after the last finished
epoch. Prints both results and their largest difference. Ray listens on more than the loopback
address (docs/cluster.md): run it in a trusted network. With ``--quick`` there is no Ray and no kill:
one process beside one process. ``--rounding`` has no Ray either: it trains with whole batches, and
with batches in two halves whose gradients are added in float32 or in float64, and says how far each
is from a training in float64.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Spent, machine, parser, tell

from heterophily.batches.prepare import channel_batches
from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.models.catalog import MODELS
from heterophily.runs.executors.ray_train import CHECKPOINT, train_alone, train_together
from heterophily.training.config import TrainConfig


def made_graph(nodes: int) -> Graph:
    rng = np.random.default_rng(0)
    labels = np.arange(nodes) % 3
    source, target = rng.integers(0, nodes, (2, 5 * nodes))
    features = (rng.normal(size=(nodes, 16)) + np.eye(3, 16)[labels]).astype(np.float32)
    return Graph.from_edges(source, target, features=features, labels=labels, name="made")


class Killer(threading.Thread):
    """Kills one training process once the checkpoint was written."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(daemon=True)
        self.checkpoint, self.kills, self.done = checkpoint, 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.02):
            if self.checkpoint.exists() and (worker := training_process()):
                os.kill(worker, signal.SIGKILL)
                self.kills += 1
                return


def training_process() -> int | None:
    """Return a worker of Ray Train that belongs to this process's cluster."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            is_worker = b"RayTrainWorker" in (folder / "cmdline").read_bytes()
            mark = f"HETEROPHILY_TOGETHER={os.getpid()}".encode()
            if is_worker and mark in (folder / "environ").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    return None


def rounding(graph: Graph, epochs: int) -> dict[str, float]:
    """Return the largest difference of logits between ways to add up one training."""
    spec = MODELS["acm-sign"].with_options(features="numbers", dropout=0.0, hidden=16)
    part = np.random.default_rng(1).permutation(graph.num_nodes) % 3
    nodes, labels = np.flatnonzero(part == 0), torch.from_numpy(np.array(graph.labels))

    def trained(halves: int, added: torch.dtype, dtype: torch.dtype) -> torch.Tensor:
        source = channel_batches(graph, spec)
        torch.manual_seed(0)
        model = spec.build(num_nodes=graph.num_nodes, num_features=16, num_classes=3).to(dtype)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        for epoch in range(1, epochs + 1):
            size = max(graph.num_nodes // 60, 2)
            for inputs, batch in source.batches(nodes, size, seed=0, epoch=epoch, part=np.array):
                total = None
                for rank in range(halves):
                    mine = {k: block[rank::halves].to(dtype) for k, block in inputs.items()}
                    targets = labels[batch[rank::halves]]
                    losses = cross_entropy(model.on_rows(mine), targets, reduction="sum")
                    found = torch.autograd.grad(losses / len(batch), list(model.parameters()))
                    parts = [each.to(added) for each in found]
                    total = (
                        parts
                        if total is None
                        else [a + b for a, b in zip(total, parts, strict=True)]
                    )
                for parameter, gradient in zip(model.parameters(), total, strict=True):
                    parameter.grad = gradient.to(dtype)
                optimizer.step()
        model.eval()
        whole = source._blocks(slice(0, graph.num_nodes))
        with torch.no_grad():
            return model.on_rows({k: block.to(dtype) for k, block in whole.items()}).double()

    exact = trained(1, torch.float64, torch.float64)
    ways = {
        "whole batches": (1, torch.float32),
        "halves, added in float32": (2, torch.float32),
        "halves, added in float64": (2, torch.float64),
    }
    found = {name: trained(*way, torch.float32) for name, way in ways.items()}
    one = found["whole batches"]
    told = {f"{k}, from float64": float((v - exact).abs().max()) for k, v in found.items()}
    return told | {f"{k}, from whole": float((v - one).abs().max()) for k, v in found.items()}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--folder", type=Path, help="for checkpoints")
    options.add_argument("--nodes", type=int, default=20_000)
    options.add_argument("--epochs", type=int, default=20)
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--no-kill", action="store_true")
    options.add_argument("--rounding", action="store_true", help="one process, no Ray")
    options.add_argument("--record", type=Path, help="add a line to this file")
    given = options.parse_args()
    if given.quick:
        given.nodes, given.epochs, given.processes, given.no_kill = 300, 2, 1, True
    os.environ["HETEROPHILY_TOGETHER"] = str(os.getpid())  # workers of Ray inherit it
    graph = made_graph(given.nodes)
    if given.rounding:
        line = {"part": "rounding", "nodes": given.nodes, "epochs": given.epochs}
        tell({**line, **rounding(graph, given.epochs), "machine": machine()}, given.record)
        return
    part = np.random.default_rng(1).permutation(given.nodes) % 3
    split = Split(part == 0, part == 1, part == 2)
    spec = MODELS["acm-sign"].with_options(features="numbers", dropout=0.0, hidden=16)
    config = TrainConfig(
        max_epochs=given.epochs, batches="channels", batch_size=max(given.nodes // 60, 1)
    )
    results = []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        killer = Killer(folder / CHECKPOINT)

        def alone() -> None:
            results.append(train_alone(spec, graph, split, config))

        def together() -> None:
            how = {"folder": folder, "processes": given.processes}
            results.append(train_together(spec, graph, split, config, **how))

        if not given.no_kill:
            killer.start()
        times = [Spent.on(alone), Spent.on(alone if given.quick else together)]
        killer.done.set()
    one, two = results
    assert one.logits is not None
    assert two.logits is not None
    record = {
        "nodes": given.nodes,
        "processes": given.processes,
        "epochs": two.epochs,
        "kills": killer.kills,
        "seconds_alone": round(times[0].wall, 1),
        "seconds_together": round(times[1].wall, 1),
        "test_accuracy": [one.test_accuracy, two.test_accuracy],
        "largest_difference": float(np.abs(one.history.train_loss - two.history.train_loss).max()),
        "largest_difference_of_logits": float(np.abs(one.logits - two.logits).max()),
        "machine": machine(),
    }
    tell(record, given.record)


if __name__ == "__main__":
    main()
