"""Training beyond memory: accuracy beside full batches, one large run end to end, the sampler.

    python benchmarks/speed/scale_training.py accuracy [--graphs squirrel minesweeper]
    python benchmarks/speed/scale_training.py end-to-end [--edges 1e8]
    python benchmarks/speed/scale_training.py sampler [--edges 1e7]
    python benchmarks/speed/scale_training.py --quick  # all three, on small graphs

``accuracy`` trains the same model with the same settings, splits and seeds in full batches (by the
native engine where it covers the model) and by mini-batches; graphs are names or files; every run
is kept in ``--store``, so that a second call goes on. ``end-to-end`` draws
the tables of a random graph, runs ``heterophily convert``, ``train`` and ``predict`` in processes of
their own, and beside them a training with a plain PyTorch loader; it prints time and peak memory of
each. ``sampler`` draws neighbourhoods of 1,024 nodes, 10 and 10 neighbours, beside a sampler in NumPy.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scale_channels import convert, draw_tables
from shared import Spent, apart, count, heterophily, machine, parser, tell

FULL = {"lr": 0.01, "weight_decay": 5e-4, "max_epochs": 300, "stopping": "none"}
PAIRS = (  # model, kind of batches beside full ones
    ("acm-gcn", "sampled"),
    ("acm-sgc-1", "channels"),
    ("acm-sign", "channels"),
)


def accuracy(told: argparse.Namespace) -> None:
    """Print test scores of full batches and of mini-batches, and their difference."""
    from heterophily import open_graph
    from heterophily.batches.fits import length_of_training
    from heterophily.comparison.train import train
    from heterophily.evaluation.scores import SCORES
    from heterophily.runs.stores.url import open_store
    from heterophily.training.config import TrainConfig

    print("graph | model | batches | score | full | mini-batches | difference in points")
    with open_store(told.store) as store:
        for given in told.graphs:
            graph, name = open_graph(given), Path(given).stem
            score = "roc-auc" if graph.num_classes == 2 else "accuracy"
            numbers = {"batch_size": told.batch_size}
            for model, batches in PAIRS:
                if told.models and model not in told.models:
                    continue
                found, seconds, trained = [], [], []
                for kind in ("full", batches):
                    how = dict(FULL)
                    if kind != "full":
                        known = int(np.count_nonzero(graph.labels >= 0))
                        how |= {"batches": kind, **numbers, **length_of_training(known, **numbers)}
                    if kind == "sampled":
                        how["fanout"] = told.fanout
                    if told.quick or (told.epochs and kind != "full"):
                        how["max_epochs"] = 2 if told.quick else told.epochs
                    start = time.perf_counter()
                    report = train(
                        model,
                        graph,
                        repeats=told.repeats,
                        options={"dropout": 0.5},
                        config=TrainConfig(**how),
                        engine="auto" if kind == "full" else "torch",
                        store=store,
                    )
                    seconds.append(round(time.perf_counter() - start))
                    trained.append([result.epochs for result in report.results])
                    values = []
                    for number, result in enumerate(report.results):
                        split = report.splits[number % len(report.splits)]
                        labels = graph.labels[split.test]
                        values.append(SCORES[score](labels, result.probabilities[split.test]))
                    found.append(100 * float(np.mean(values)))
                full, mini = found
                print(
                    f"{name} | {model} | {batches} | {score} | {full:.2f} | {mini:.2f} | "
                    f"{mini - full:+.2f}",
                    flush=True,
                )
                if told.record is not None and not told.quick:
                    line = {"graph": name, "model": model, "batches": batches, "score": score}
                    line |= {"splits": told.repeats, "epochs": trained, "seconds": seconds}
                    line |= {"fanout": told.fanout, **numbers, "machine": machine()}
                    tell({**line, "full": round(full, 2), "mini": round(mini, 2)}, told.record)


def end_to_end(told: argparse.Namespace) -> None:
    """Time convert, train (on channels) and an exact prediction, each by its command."""
    with tempfile.TemporaryDirectory(dir=told.folder) as folder:
        found = _end_to_end(told, Path(folder))
    tell(found, None if told.quick else told.record)


def _end_to_end(told: argparse.Namespace, place: Path) -> dict[str, Any]:
    tables = place / "edges.parquet", place / "nodes.parquet"
    found: dict[str, Any] = {"edges": told.edges, "nodes": told.edges // 10}
    found |= {"columns": told.columns, "model": told.model, "batches": told.batches}
    found |= {"memory": told.memory, "machine": machine()}
    os.environ["HETEROPHILY_MEMORY"] = told.memory
    apart(_draw, told.edges, told.columns, tables)
    given = ["--edges", tables[0], "--nodes", tables[1], "--memory", told.memory]
    graph, model = place / "g.disk", place / "model"
    epochs = told.epochs or 20
    found |= {"epochs": epochs}
    words = ["--batches", told.batches, "--max-epochs", epochs, "--batch-size", 8192]
    words += ["--store", f"sqlite:///{place}/runs.db"]
    commands = {
        "convert": [*given, "--out", graph],
        "train": [told.model, graph, *words, "--out", model],
        "predict": [model, graph, "--out", place / "predictions.parquet"],
    }
    begun = {}
    for verb, rest in commands.items():
        begun[verb] = time.time()
        found[verb] = apart(heterophily, verb, *rest).facts()
    written = [path.stat().st_mtime for path in Path(graph, "channels").rglob("low-*")]
    if written:  # from the start of the command until its last channel was there
        found["train"]["channels_seconds"] = round(max(written) - begun["train"])
    rival = min(told.edges, told.rival_edges)
    if rival:
        if rival < told.edges:
            apart(_draw, rival, told.columns, tables)
        loaded = apart(_by_hand, tables, epochs)
        found["torch_loader"] = {"edges": rival, **loaded.facts(), "told": loaded.value}
    return found


def _by_hand(tables: tuple[Path, Path], epochs: int) -> dict[str, Any]:
    from yardsticks.torch_loader import train_in_memory

    return train_in_memory(*tables, epochs=epochs)


def _draw(edges: int, columns: int, tables: tuple[Path, Path]) -> None:
    from heterophily.channels.rows import usable_threads
    from heterophily.data.synthetic.stream import StreamedGraph

    plan = StreamedGraph(edges // 10, edges, homophily=0.3, features=columns)
    plan.write(*tables, threads=usable_threads())


def numpy_sample(indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, fanout: int) -> None:
    """Draw neighbours and number them with NumPy: with replacement, which is less work."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        begin, degrees = indptr[nodes], indptr[nodes + 1] - indptr[nodes]
        some = nodes.size
        draws = begin[:, None] + (rng.random((some, fanout)) * degrees[:, None]).astype(np.int64)
        found = indices[np.minimum(draws, indices.size - 1)[degrees > 0]].astype(np.int64)
        nodes = np.unique(np.concatenate([nodes, found.ravel()]))


def sampler(told: argparse.Namespace) -> None:
    """Print batches a second of the native sampler and of NumPy, in one run."""
    from heterophily.channels.rows import parts_of, usable_threads
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.native.sampler import draw_neighbours, renumber

    with tempfile.TemporaryDirectory(dir=told.folder) as place:
        draw_tables(Path(place), told.edges, 16)
        graph = DiskGraph.open(convert(Path(place)))
        parts = parts_of(graph)
        indptr, indices = (np.array(graph.parts[0].indptr), np.array(graph.parts[0].indices))
    rng, batches = np.random.default_rng(1), 20
    seeds = [rng.choice(indptr.size - 1, 1024, replace=False) for _ in range(batches)]

    def native(threads: int) -> None:
        for number, nodes in enumerate(seeds):
            known = nodes
            for layer in (0, 1):
                drawn = draw_neighbours(
                    parts, known, 10, seed=0, round=2 * number + layer, threads=threads
                )
                known, _ = renumber(known, drawn.neighbours)

    def by_numpy() -> None:
        for nodes in seeds:
            numpy_sample(indptr, indices, nodes, 10)

    found = {
        f"native, {threads} threads": Spent.on(lambda threads=threads: native(threads))
        for threads in sorted({1, usable_threads()})
    }
    found["NumPy"] = base = Spent.on(by_numpy)
    print(f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges; 1,024 nodes, 10 x 10")
    line: dict[str, Any] = {"part": "sampler", "edges": graph.num_edges, "fanout": [10, 10]}
    for name, spent in found.items():
        per_second, milliseconds = batches / spent.wall, 1000 * spent.cpu / batches
        print(
            f"{name}: {per_second:.1f} batches/s, {milliseconds:.1f} CPU ms a batch, "
            f"{base.wall / spent.wall:.1f} times NumPy ({base.cpu / spent.cpu:.1f} by CPU time)"
        )
        line[name] = {"batches_per_second": round(per_second, 1), "cpu_ms": round(milliseconds, 1)}
    tell({**line, "machine": machine()}, None if told.quick else told.record)


PARTS = {"accuracy": accuracy, "end-to-end": end_to_end, "sampler": sampler}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("part", choices=PARTS, nargs="?")
    options.add_argument("--graphs", nargs="+", default=["squirrel", "minesweeper"])
    options.add_argument("--models", nargs="+", default=[], help="of accuracy; default all three")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument(
        "--epochs",
        type=int,
        default=0,
        help="most epochs of mini-batches; 0: as train does, in end-to-end 20",
    )
    options.add_argument("--fanout", type=int, default=15, help="of sampled neighbourhoods")
    options.add_argument("--batch-size", type=int, default=512, help="nodes of a mini-batch")
    options.add_argument("--store", default=None)
    options.add_argument("--edges", type=count, default=10**7)
    options.add_argument("--columns", type=int, default=64)
    options.add_argument("--model", default="acm-sgc-1")
    options.add_argument("--batches", default="channels")
    options.add_argument("--folder", type=Path, default=None)
    options.add_argument("--memory", default="8GB", help="of the commands of end-to-end")
    options.add_argument(
        "--rival-edges", type=count, default=20_000_000, help="0: no PyTorch loader"
    )
    options.add_argument("--record", type=Path, default=None, help="add a line to this file")
    told = options.parse_args()
    if told.quick:
        told.graphs, told.repeats, told.edges, told.columns = ["texas"], 1, 20_000, 4
        told.store = "memory:"
    elif told.part is None:
        options.error(f"name a part: {', '.join(PARTS)}")
    for part in [told.part] if told.part else PARTS:
        PARTS[part](told)


if __name__ == "__main__":
    main()
