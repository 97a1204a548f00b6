"""Accuracy of the native engine beside torch on the same splits, from the same initial weights.

Trains ACM-GCN with the paper's hyper-parameters on 30 random splits of each dataset, once in each
engine (their dropout masks differ, nothing else does). Every run is a line of
``results/engine-accuracy/<model>.csv``; cells that the file holds are not trained again.

    python benchmarks/science/engine_accuracy.py  # train what is missing, then print the table
    python benchmarks/science/engine_accuracy.py --show        # only print
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.comparison.train import train_by_name
from heterophily.data.atomic import write_text

DATASETS = ("texas", "chameleon", "cora")
ENGINES = ("native", "torch")
FOLDER = shared.RESULTS / "engine-accuracy"
COLUMNS = (
    *("dataset", "engine", "split", "seed", "status"),
    *("epochs", "best_epoch", "validation_accuracy", "test_accuracy"),
)
Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write(path: Path, rows: Iterable[Row]) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text.getvalue())


def train_cell(
    model: str, dataset: str, engine: str, repeats: int, workers: int, **config: int
) -> list[Row]:
    report = train_by_name(
        model,
        dataset,
        preset="paper",
        repeats=repeats,
        workers=workers,
        engine=engine,
        config=config,
        keep_state=False,
    )
    if report.results.interrupted:
        raise KeyboardInterrupt
    return [
        {
            "dataset": dataset,
            "engine": report.results.engine,
            "split": split,
            "seed": result.seed,
            "status": result.status,
            "epochs": result.epochs,
            "best_epoch": result.best_epoch,
            "validation_accuracy": f"{result.validation_accuracy:.6f}",
            "test_accuracy": f"{result.test_accuracy:.6f}",
        }
        for split, result in enumerate(report.results)
    ]


def accuracies(rows: list[Row], dataset: str, engine: str) -> np.ndarray:
    """Test accuracies in the order of the splits."""
    chosen = [row for row in rows if (row["dataset"], row["engine"]) == (dataset, engine)]
    return np.array([float(row["test_accuracy"]) for row in chosen])


def show(rows: list[Row], datasets: Iterable[str]) -> None:
    """Print means, and their difference in standard errors of torch's mean and of the pairs."""
    titles = ("data", "splits", *ENGINES, "native - torch", "s.e. of torch's mean")
    titles += ("s.e. of the pairs", "p (paired t)", "within one s.e.")
    print(shared.head(titles))
    for dataset in datasets:
        native, torch = (accuracies(rows, dataset, engine) for engine in ENGINES)
        if not native.size or native.size != torch.size:
            print(f"| {dataset} | not trained in both engines |")
            continue
        gap = native - torch
        error, paired = (100 * values.std(ddof=1) / gap.size**0.5 for values in (torch, gap))
        chance = stats.ttest_rel(native, torch).pvalue if gap.any() else 1.0
        mean = 100 * gap.mean()
        print(
            f"| {dataset} | {gap.size} | {100 * native.mean():.2f} | {100 * torch.mean():.2f} | "
            f"{mean:+.2f} | {error:.2f} | {paired:.2f} | {chance:.2f} | "
            f"{'yes' if abs(mean) <= error else 'no'} |"
        )


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--model", default="acm-gcn")
    parser.add_argument("--datasets", default=DATASETS, type=shared.names)
    parser.add_argument("--repeats", default=30, type=int)
    parser.add_argument("--workers", default=1, type=int)
    parser.add_argument("--folder", default=FOLDER, type=Path)
    parser.add_argument("--again", default="", help="engine whose runs are forgotten first")
    parser.add_argument("--show", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        cells = (train_cell("acm-gcn", "texas", engine, 2, 1, max_epochs=10) for engine in ENGINES)
        show([row for cell in cells for row in cell], ["texas"])
        return
    path = arguments.folder / f"{arguments.model}.csv"
    rows = [row for row in read(path) if row["engine"] != arguments.again]
    for dataset in arguments.datasets if not arguments.show else ():
        for engine in ENGINES:
            if accuracies(rows, dataset, engine).size == arguments.repeats:
                continue
            others = [row for row in rows if (row["dataset"], row["engine"]) != (dataset, engine)]
            made = train_cell(
                arguments.model, dataset, engine, arguments.repeats, arguments.workers
            )
            rows = sorted(
                others + made, key=lambda row: (row["dataset"], row["engine"], int(row["split"]))
            )
            write(path, rows)
    show(rows, arguments.datasets)


if __name__ == "__main__":
    main()
