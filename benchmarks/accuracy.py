"""Accuracy of the ACM models beside the paper's table and the authors' own program.

Trains 45 cells (5 models x 9 datasets, 10 random splits) and ACM-GCN on deezer-europe (its 5 fixed
splits) with the published hyper-parameters. Each cell is one JSON record under
``results/acm-accuracy/<variant>/``, written whole or not at all; a cell whose record has the same
key is not trained again, so the command can be stopped and started at any time.

    python benchmarks/accuracy.py                      # train what is missing, then print the table
    python benchmarks/accuracy.py --variant layer-norm --models acm-gcn+,acmii-gcn++
    python benchmarks/accuracy.py --show               # only print, all variants side by side
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heterophily.data.atomic import atomic_path
from heterophily.experiments.presets import Recipe, Rule, recipe
from heterophily.experiments.published_tables import published_accuracy
from heterophily.experiments.train import train_by_name

MODELS = ("acm-sgc-1", "acm-gcn", "acmii-gcn", "acm-gcn+", "acmii-gcn++")
DATASETS = (
    "cornell", "wisconsin", "texas", "film", "chameleon", "squirrel", "cora", "citeseer", "pubmed",
)  # fmt: skip
DEEZER = ("acm-gcn", "deezer-europe", "fixed")
FOLDER = Path("results/acm-accuracy")

VARIANTS: Mapping[str, tuple[str, tuple[Rule, ...]]] = {
    "paper": ("paper", ()),
    "as-written": ("paper-as-written", ()),
    "mix-scale-1": ("paper", (Rule(models="acm*", options={"mix_scale": 1.0}),)),
    "layer-norm": ("paper", (Rule(models="acm*+", options={"use_layer_norm": True}),)),
    "glorot": ("paper", (Rule(options={"initialization": "glorot"}),)),
    "symmetric": ("paper", (Rule(options={"normalization": "symmetric"}),)),
    "no-self-loops": ("paper", (Rule(graph={"self_loops": "remove"}),)),
    "row-normalized": ("paper", (Rule(options={"row_normalize": True}),)),
    "no-input-dropout": ("paper", (Rule(options={"input_dropout": 0.0}),)),
    "residual-everywhere": ("paper", (Rule(models="acm*++", options={"residual": "every-layer"}),)),
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


def path_of(folder: Path, variant: str, cell: tuple[str, str, str]) -> Path:
    return folder / variant / f"{cell[0]}--{cell[1]}--{cell[2]}.json"


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.is_file() else {}  # type: ignore[no-any-return]


def run(arguments: argparse.Namespace, variant: str) -> None:
    preset, extra = VARIANTS[variant]
    for cell in cells(arguments.models, arguments.datasets):
        model, dataset, protocol = cell
        chosen = recipe(preset, model, dataset, protocol, extra=extra)
        key = key_of(chosen, cell, arguments.seed, arguments.repeats)
        path = path_of(arguments.folder, variant, cell)
        if read(path).get("key") == key:
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
        )
        if report.results.interrupted:
            raise KeyboardInterrupt
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            temporary.write_text(
                json.dumps(
                    {"key": key, "engine": report.results.engine, **report.to_dict()}, indent=1
                )
            )
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
    for model, dataset, protocol in cells(arguments.models, arguments.datasets):
        paper = published_accuracy(model, dataset, protocol)
        authors = AUTHORS.get((model, dataset))
        assert paper is not None
        assert paper.std is not None
        line = f"{model:12} {dataset:14}{paper.mean:9.4f}±{paper.std:.4f}"
        line += f"{authors:9.4f}  " if authors else f"{'':9}  "
        for variant in variants:
            record = read(path_of(arguments.folder, variant, (model, dataset, protocol)))
            if not record:
                line += f"{'-':>26}"
                continue
            ours = record["test_accuracy"]
            gap = ours["mean"] - paper.mean
            gaps[variant].append(gap)
            counts = within[variant]
            counts[0] += 1
            counts[1] += abs(gap) <= paper.std
            counts[2] += abs(gap) <= 2 * paper.std
            near = authors is not None and abs(ours["mean"] - authors) <= 0.015
            counts[3] += near
            mark = " " if abs(gap) <= paper.std else "." if abs(gap) <= 2 * paper.std else "*"
            mark += "!" if authors is not None and not near else " "
            line += f"{ours['mean']:10.4f}±{ours['std']:.4f} {gap:+.4f}{mark}"
        print(line)
    for variant in variants:
        count, one, two, near = within[variant]
        if count:
            mean = sum(gaps[variant]) / count
            size = sum(map(abs, gaps[variant])) / count
            print(
                f"{variant:20} cells {count}, within one std {one}, within two {two}, within 1.5 "
                f"points of the authors {near}; mean gap {mean:+.4f}, mean size {size:.4f}"
            )
    print("* more than two published std from the paper, . more than one, ! far from the authors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="paper", help="one of: " + ", ".join(VARIANTS))
    parser.add_argument("--models", default=",".join(MODELS), type=lambda text: text.split(","))
    parser.add_argument(
        "--datasets",
        default=[*DATASETS, DEEZER[1]],
        type=lambda text: text.split(","),
    )
    parser.add_argument("--folder", default=FOLDER, type=Path)
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--repeats", default=None, type=int)
    parser.add_argument("--workers", default=None, type=int)
    parser.add_argument("--engine", default="torch", help="torch, native or auto")
    parser.add_argument("--show", action="store_true", help="train nothing, print all variants")
    arguments = parser.parse_args()
    if arguments.variant not in VARIANTS:
        parser.error(f"unknown variant {arguments.variant!r}; known: {', '.join(VARIANTS)}")
    if arguments.show:
        show(arguments, [v for v in VARIANTS if (arguments.folder / v).is_dir()])
        return
    try:
        run(arguments, arguments.variant)
    except KeyboardInterrupt:
        print("stopped; finished cells are kept")
    show(arguments, [arguments.variant])


if __name__ == "__main__":
    main()
