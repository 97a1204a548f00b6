"""Training beyond memory: accuracy beside full batches, one large run end to end, the sampler.

    python benchmarks/speed/scale_training.py accuracy [--graphs squirrel minesweeper] [--quick]
    python benchmarks/speed/scale_training.py end-to-end [--edges 1e8] [--quick]
    python benchmarks/speed/scale_training.py sampler [--edges 1e7] [--quick]

``accuracy`` trains the same model with the same settings, splits and seeds in full batches (by the
native engine where it covers the model) and by mini-batches; graphs are names or files; every run is kept in ``--store``, so that a second call goes on. ``end-to-end`` draws
the tables of a random graph, runs ``heterophily convert``, ``train`` and ``predict`` in processes of
their own, and beside them a training with a plain PyTorch loader; it prints time and peak memory of
each. ``sampler`` draws neighbourhoods of 1,024 nodes, 10 and 10 neighbours, beside a sampler in NumPy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scale_channels import convert, draw_tables

from heterophily.channels.rows import parts_of, usable_threads
from heterophily.data.synthetic.stream import StreamedGraph
from heterophily.native.sampler import draw_neighbours, renumber

COMMAND = "from heterophily.cli.app import main; import sys; sys.exit(main(sys.argv[1:]))"
FULL = {"lr": 0.01, "weight_decay": 5e-4, "max_epochs": 300, "stopping": "none"}
PAIRS = (  # model, kind of batches beside full ones, settings of mini-batches
    ("acm-gcn", "sampled", {"batch_size": 512, "fanout": 15}),
    ("acm-sgc-1", "channels", {"batch_size": 512}),
    ("acm-sign", "channels", {"batch_size": 512}),
)


def accuracy(told: argparse.Namespace) -> None:
    """Print test scores of full batches and of mini-batches, and their difference."""
    from heterophily import open_graph
    from heterophily.comparison.train import train
    from heterophily.evaluation.scores import SCORES
    from heterophily.runs.stores.url import open_store
    from heterophily.training.config import TrainConfig

    repeats = 1 if told.quick else told.repeats
    print("graph | model | batches | score | full | mini-batches | difference in points")
    with open_store(told.store) as store:
        for given in told.graphs:
            graph, name = open_graph(given), Path(given).stem
            score = "roc-auc" if name == "minesweeper" else "accuracy"
            for model, batches, numbers in PAIRS:
                if told.models and model not in told.models:
                    continue
                found = []
                for kind in ("full", batches):
                    epochs = 10 if told.quick else (FULL["max_epochs"] if kind == "full" else 60)
                    how = {**FULL, "max_epochs": epochs}
                    if kind != "full":
                        how |= {"batches": kind, **numbers}
                    report = train(
                        model,
                        graph,
                        repeats=repeats,
                        options={"dropout": 0.5},
                        config=TrainConfig(**how),
                        engine="auto" if kind == "full" else "torch",
                        store=store,
                    )
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
                if told.record is not None:
                    line = {"graph": name, "model": model, "batches": batches, "score": score}
                    line |= {"splits": repeats, "full": round(full, 2), "mini": round(mini, 2)}
                    with open(told.record, "a", encoding="utf-8") as stream:
                        stream.write(json.dumps(line) + "\n")


def end_to_end(told: argparse.Namespace) -> None:
    """Time convert, train (channels, 20 epochs) and an exact prediction, each by its command."""
    edges = int(1e5 if told.quick else told.edges)
    place = Path(tempfile.mkdtemp(dir=told.folder))
    tables = [str(place / "edges.parquet"), str(place / "nodes.parquet")]
    found: dict[str, object] = {"edges": edges, "nodes": edges // 10, "columns": told.columns}
    found |= {"model": told.model, "batches": told.batches, "memory": told.memory}
    try:
        plan = StreamedGraph(edges // 10, edges, homophily=0.3, features=told.columns)
        plan.write(*tables, threads=usable_threads())
        graph, model = str(place / "g.disk"), str(place / "model")
        given = ["--edges", tables[0], "--nodes", tables[1], "--memory", told.memory]
        found["convert"] = _timed(told, ["convert", *given, "--out", graph])
        words = ["train", told.model, graph, "--batches", told.batches, "--max-epochs", "20"]
        words += ["--batch-size", "8192", "--out", model, "--store", f"sqlite:///{place}/runs.db"]
        begun = time.time()
        found["train"] = trained = _timed(told, words)
        written = [path.stat().st_mtime for path in Path(graph, "channels").rglob("low-*")]
        if written:  # from the start of the command until its last channel was there
            trained["channels_seconds"] = round(max(written) - begun)
        table = str(place / "predictions.parquet")
        found["predict"] = _timed(told, ["predict", model, graph, "--out", table])
        rival_edges = int(min(edges, told.rival_edges))
        if rival_edges:
            if rival_edges < edges:
                plan = replace(plan, num_nodes=rival_edges // 10, num_edges=rival_edges)
                plan.write(*tables, threads=usable_threads())
            script = Path(__file__).parent / "yardsticks" / "torch_loader.py"
            found["torch_loader"] = {"edges": rival_edges} | _run([str(script), *tables], {})
    finally:
        shutil.rmtree(place, ignore_errors=True)
    line = json.dumps(found)
    print(line)
    if told.record is not None:
        with open(told.record, "a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def _timed(told: argparse.Namespace, words: list[str]) -> dict[str, object]:
    return _run(["-c", COMMAND, *words], {"HETEROPHILY_MEMORY": told.memory})


def _run(words: list[str], settings: dict[str, str]) -> dict[str, object]:
    """Run Python in a process of its own; show what it printed, return what it took."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **settings},
    )
    assert child.stdout is not None
    lines = [line.rstrip() for line in child.stdout]
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print("\n".join(f"  {line}" for line in lines), flush=True)
    if child.returncode:
        raise SystemExit(f"exit {child.returncode}: {' '.join(words)[:200]}")
    found: dict[str, object] = {
        "seconds": round(time.perf_counter() - start),
        "cpu_seconds": round(used.ru_utime + used.ru_stime),
        "peak_gb": round(used.ru_maxrss / 2**20, 2),
    }
    return found | ({"told": json.loads(lines[-1])} if lines[-1].startswith("{") else {})


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
    edges = int(1e5 if told.quick else told.edges)
    place = Path(tempfile.mkdtemp(dir=told.folder))
    try:
        draw_tables(place, edges, 16)
        graph = convert(place)
        parts = parts_of(graph)
        indptr, indices = (np.array(graph.parts[0].indptr), np.array(graph.parts[0].indices))
        rng, count = np.random.default_rng(1), 20
        seeds = [rng.choice(graph.parts[0].num_rows, 1024, replace=False) for _ in range(count)]
        found = {}
        for threads in sorted({1, usable_threads()}):
            start, cpu = time.perf_counter(), time.process_time()
            for number, nodes in enumerate(seeds):
                known = nodes
                for layer in (0, 1):
                    drawn = draw_neighbours(
                        parts, known, 10, seed=0, round=2 * number + layer, threads=threads
                    )
                    known, _ = renumber(known, drawn.neighbours)
            name = f"native, {threads} threads"
            found[name] = (time.perf_counter() - start, time.process_time() - cpu)
        start, cpu = time.perf_counter(), time.process_time()
        for nodes in seeds:
            numpy_sample(indptr, indices, nodes, 10)
        found["NumPy"] = (time.perf_counter() - start, time.process_time() - cpu)
        base = found["NumPy"]
        print(f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges; 1,024 nodes, 10 x 10")
        for name, (wall, busy) in found.items():
            print(
                f"{name}: {count / wall:.1f} batches/s, {1000 * busy / count:.1f} CPU ms a batch, "
                f"{base[0] / wall:.1f} times NumPy ({base[1] / busy:.1f} by CPU time)"
            )
    finally:
        shutil.rmtree(place, ignore_errors=True)


PARTS = {"accuracy": accuracy, "end-to-end": end_to_end, "sampler": sampler}


def main() -> int:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--graphs", nargs="+", default=["squirrel", "minesweeper"])
    parser.add_argument("--models", nargs="+", default=[], help="of accuracy; default all three")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--store", default=None)
    parser.add_argument("--edges", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--model", default="acm-sgc-1")
    parser.add_argument("--batches", default="channels")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--memory", default="8GB", help="of the commands of end-to-end")
    parser.add_argument("--rival-edges", type=float, default=2e7, help="0: no PyTorch loader")
    parser.add_argument("--record", type=Path, default=None, help="add a line to this file")
    parser.add_argument("--quick", action="store_true")
    told = parser.parse_args()
    PARTS[told.part](told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
