"""Accuracy of the ACM models beside the paper's table and the authors' own program.

Trains 45 cells (5 models x 9 datasets, 10 random splits) and ACM-GCN on deezer-europe (its 5 fixed
splits) with the published hyper-parameters. Trainings are runs of a store, so the command can be
stopped and started at any time; ``results/acm-accuracy/runs.parquet`` has one row for each split of
the cells that are finished, and a cell whose rows have the same key is not asked for again.

    python benchmarks/science/accuracy.py  # train what is missing, then print the table
    python benchmarks/science/accuracy.py --variant layer-norm --models acm-gcn+,acmii-gcn++
    python benchmarks/science/accuracy.py --show  # only print, all variants side by side
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.comparison.train import train_by_name
from heterophily.comparison.train_report import TrainReport
from heterophily.data.atomic import atomic_path
from heterophily.paper.presets import Recipe, SettingRule, recipe
from heterophily.paper.published_tables import published_accuracy
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store

MODELS = ("acm-sgc-1", "acm-gcn", "acmii-gcn", "acm-gcn+", "acmii-gcn++")
DATASETS = shared.NINE
DEEZER = ("acm-gcn", "deezer-europe", "fixed")
FILE = shared.RESULTS / "acm-accuracy" / "runs.parquet"
Row = dict[str, Any]
Kept = dict[tuple[str, str, str, str], list[Row]]  # variant, model, dataset, split rule

VARIANTS: Mapping[str, tuple[str, tuple[SettingRule, ...]]] = {
    "paper": ("paper", ()),
    "as-written": ("paper-as-written", ()),
    "mix-scale-1": ("paper", (SettingRule(models="acm*", options={"mix_scale": 1.0}),)),
    "layer-norm": ("paper", (SettingRule(models="acm*+", options={"use_layer_norm": True}),)),
    "glorot": ("paper", (SettingRule(options={"initialization": "glorot"}),)),
    "symmetric": ("paper", (SettingRule(options={"normalization": "symmetric"}),)),
    "no-self-loops": ("paper", (SettingRule(graph={"self_loops": "remove"}),)),
    "row-normalized": ("paper", (SettingRule(options={"row_normalize": True}),)),
    "no-input-dropout": ("paper", (SettingRule(options={"input_dropout": 0.0}),)),
    "residual-everywhere": (
        "paper",
        (SettingRule(models="acm*++", options={"residual": "every-layer"}),),
    ),
}
"""Name -> preset and rules on top of it: the options of FIDELITY section 1, one at a time."""

AUTHORS = {
    ("acm-gcn", "cornell"): 0.9393,
    ("acm-gcn", "texas"): 0.9131,
    ("acm-gcn", "cora"): 0.8875,
    ("acm-gcn", "chameleon"): 0.6678,
    ("acm-gcn", "squirrel"): 0.5649,
    ("acmii-gcn", "cornell"): 0.9180,
    ("acm-gcn+", "cornell"): 0.9000,
    ("acm-gcn+", "chameleon"): 0.7521,
    ("acm-sgc-1", "cornell"): 0.9082,
}
"""Mean accuracy of the authors' program with the published optima, 10 random splits."""


def cells(models: list[str], datasets: list[str]) -> Iterator[tuple[str, str, str]]:
    for dataset in datasets:
        for model in models:
            if dataset != DEEZER[1]:
                yield model, dataset, "random"
            elif model == DEEZER[0]:
                yield DEEZER


def key_of(chosen: Recipe, cell: tuple[str, str, str], seed: int, repeats: int | None) -> str:
    content = [
        *cell,
        seed,
        repeats,
        dict(chosen.graph),
        dict(chosen.options),
        chosen.config.to_dict(),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path) -> Kept:
    """Return the rows of each cell, in the order of the splits."""
    found: Kept = {}
    for row in pq.read_table(path).to_pylist() if path.is_file() else ():
        place = (row["variant"], row["model"], row["graph"], row["split_rule"])
        found.setdefault(place, []).append(row)
    return found


def write(path: Path, kept: Kept) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([row for rows in kept.values() for row in rows])
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def rows_of(variant: str, key: str, report: TrainReport, cell: tuple[str, str, str]) -> list[Row]:
    data = report.to_dict()
    both = (data[f"{part}_accuracy"]["values"] for part in ("test", "validation"))
    return [
        {
            "variant": variant,
            "cell_key": key,
            "model": cell[0],
            "graph": cell[1],
            "split_rule": cell[2],
            "split": number,
            "engine": report.results.engine,
            "hyperparameters": json.dumps(data["hyperparameters"], sort_keys=True),
            "test_accuracy": test,
            "validation_accuracy": validation,
            "epochs_of_cell": float(data["epochs"]),
            "ms_per_epoch_of_cell": data["ms_per_epoch"],
            "peak_memory_mb_of_cell": data["peak_memory_mb"],
        }
        for number, (test, validation) in enumerate(zip(*both, strict=True))
    ]


def run(arguments: argparse.Namespace, variant: str, store: Store) -> None:
    preset, extra = VARIANTS[variant]
    kept = read(arguments.file)
    for cell in cells(arguments.models, arguments.datasets):
        model, dataset, protocol = cell
        chosen = recipe(preset, model, dataset, protocol, extra=extra)
        key = key_of(chosen, cell, arguments.seed, arguments.repeats)
        if (variant, *cell) in kept and kept[(variant, *cell)][0]["cell_key"] == key:
            continue
        report = train_by_name(
            model,
            dataset,
            splits="paper-random" if protocol == "random" else protocol,
            preset=preset,
            extra=extra,
            seed=arguments.seed,
            repeats=arguments.repeats,
            workers=arguments.workers,
            engine=arguments.engine,
            keep_state=False,
            store=store,
        )
        if report.results.interrupted:
            raise KeyboardInterrupt
        kept[(variant, *cell)] = rows_of(variant, key, report, cell)
        write(arguments.file, kept)
        spread = report.test_accuracy
        print(
            f"{variant:20} {model:12} {dataset:14} {spread['mean']:.4f} ± {spread['std']:.4f}"
            f"   {report.epochs:6.0f} epochs  {report.ms_per_epoch:7.2f} ms",
            flush=True,
        )


def show(arguments: argparse.Namespace, variants: list[str]) -> None:
    print(f"\n{'cell':27}{'paper':>16}{'authors':>9}  " + "".join(f"{v:>26}" for v in variants))
    within = {variant: [0, 0, 0, 0] for variant in variants}  # cells, 1 std, 2 std, near authors
    gaps: dict[str, list[float]] = {variant: [] for variant in variants}
    kept = read(arguments.file)
    for model, dataset, protocol in cells(arguments.models, arguments.datasets):
        paper = published_accuracy(model, dataset, protocol)
        authors = AUTHORS.get((model, dataset))
        assert paper is not None
        assert paper.std is not None
        line = f"{model:12} {dataset:14}{paper.mean:9.4f}±{paper.std:.4f}"
        line += f"{authors:9.4f}  " if authors else f"{'':9}  "
        for variant in variants:
            rows = kept.get((variant, model, dataset, protocol))
            if rows is None:
                line += f"{'-':>26}"
                continue
            values = [row["test_accuracy"] for row in rows]
            mean, std = fmean(values), pstdev(values)
            gap = mean - paper.mean
            gaps[variant].append(gap)
            counts = within[variant]
            counts[0] += 1
            counts[1] += abs(gap) <= paper.std
            counts[2] += abs(gap) <= 2 * paper.std
            near = authors is not None and abs(mean - authors) <= 0.015
            counts[3] += near
            mark = " " if abs(gap) <= paper.std else "." if abs(gap) <= 2 * paper.std else "*"
            mark += "!" if authors is not None and not near else " "
            line += f"{mean:10.4f}±{std:.4f} {gap:+.4f}{mark}"
        print(line)
    for variant in variants:
        count, one, two, near = within[variant]
        if count:
            average = sum(gaps[variant]) / count
            size = sum(map(abs, gaps[variant])) / count
            print(
                f"{variant:20} cells {count}, within one std {one}, within two {two}, within 1.5 "
                f"points of the authors {near}; mean gap {average:+.4f}, mean size {size:.4f}"
            )
    print("* more than two published std from the paper, . more than one, ! far from the authors")


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--variant", default="paper", help="one of: " + ", ".join(VARIANTS))
    parser.add_argument("--models", default=list(MODELS), type=shared.names)
    parser.add_argument("--datasets", default=[*DATASETS, DEEZER[1]], type=shared.names)
    parser.add_argument("--file", default=FILE, type=Path, help="rows of finished cells")
    parser.add_argument("--store", help="where runs are kept, default as in heterophily train")
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--repeats", default=None, type=int)
    parser.add_argument("--workers", default=None, type=int)
    parser.add_argument("--engine", default="torch", help="torch, native or auto")
    parser.add_argument("--show", action="store_true", help="train nothing, print all variants")
    arguments = parser.parse_args()
    if arguments.variant not in VARIANTS:
        parser.error(f"unknown variant {arguments.variant!r}; known: {', '.join(VARIANTS)}")
    if arguments.show:
        known = {place[0] for place in read(arguments.file)}
        show(arguments, [v for v in VARIANTS if v in known])
        return
    with tempfile.TemporaryDirectory() as folder:
        if arguments.quick:
            arguments.models, arguments.datasets, arguments.repeats = ["acm-sgc-1"], ["texas"], 1
            arguments.engine, arguments.store = "native", "memory:"
            arguments.file = Path(folder) / FILE.name
        try:
            with open_store(arguments.store) as store:
                run(arguments, arguments.variant, store)
        except KeyboardInterrupt:
            print("stopped; finished cells are kept")
        show(arguments, [arguments.variant])


if __name__ == "__main__":
    main()
