"""The recipe ``auto`` on the nine fixed-split datasets, beside the paper's best ACM row.

Ten splits of Geom-GCN (48/32/20 %); everything is chosen on validation nodes (one choice for all
splits), each split is tested by the ensemble of its own replicas. The graph is read as the
released program reads it (self loops kept, citeseer's unlabelled nodes in class 0), so that test
nodes are those of the paper, but with the direction of its edges: each model chooses between both
ways, as given, and reversed. When the choice is made, the voters are trained again on five folds of
training and validation nodes (``refit``); a record has the test accuracy before and after. One JSON
record per dataset under ``results/auto-recipe/``; a finished dataset is not trained again. The
budget is in core minutes of this process (two threads for 15 minutes are 30), so that a busy
machine does not count, and it is the same for every dataset. Keep one worker: torch trains in other
processes with two, and their time would not be counted.

    python benchmarks/science/auto_recipe.py
    python benchmarks/science/auto_recipe.py --show
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.data.atomic import write_text
from heterophily.data.source import open_graph
from heterophily.paper.presets import RELEASED
from heterophily.paper.published_tables import published_table
from heterophily.prediction.auto import auto
from heterophily.runs.record import versions
from heterophily.search.space import recipe_of

DATASETS = (
    "texas", "wisconsin", "cornell", "cora", "chameleon", "citeseer", "film", "squirrel", "pubmed",
)  # fmt: skip
FOLDER = shared.RESULTS / "auto-recipe"
OURS = shared.RESULTS / "tables" / "fixed-splits.json"
LIMIT = 30.0  # core minutes: fifteen minutes on two cores
BUDGET = 28.0  # core minutes of every dataset

INTRODUCTION = """\
Fixed 48/32/20 splits of Geom-GCN, ten each; test accuracy in percent, mean ± standard deviation
over the splits. Everything is chosen on validation nodes.

- *auto, refit*: the chosen voters, trained again on five folds of training and validation nodes
  (64 % of the nodes train, 16 % tell when to stop).
- *auto*: the same voters, trained on the training nodes alone (48 %), as in the paper.
- *by us*: the best of the paper's eight ACM rows, by test accuracy, when we train them with its
  settings (results/tables/fixed-splits.md).
- *by us, refit*: that row, trained on the same five folds; its replicas vote.
- *core s*: CPU seconds of the whole recipe, of 1,800 that were allowed."""

CAUTION = """\
Recipe and budget were committed before the run (`fe20677`), every dataset was run to its end once.
Read it with care all the same: the paper's rows do not train on validation nodes, this is the
seventh recipe, and test numbers of the earlier ones were known when it was written (docs/research/
has them). On chameleon and squirrel the gain comes from the direction of the edges, which the paper
drops; most of their nodes point to exactly the same nodes as another one, nearly always of the same
class."""


def best_row(dataset: str) -> tuple[str, float, float]:
    """Return the best ACM row of the paper's fixed-split table: model, mean, std."""
    table = published_table("fixed-splits")
    cells = {m: table.cell(m, dataset) for m in table.models if m.startswith("acm")}
    model, cell = max(cells.items(), key=lambda pair: pair[1].mean if pair[1] else 0.0)
    assert cell is not None
    assert cell.std is not None
    return model, cell.mean, cell.std


def our_best_rows() -> dict[str, dict[str, Any]]:
    """Return by dataset the best of the ACM rows that we trained with the published settings."""
    best: dict[str, dict[str, Any]] = {}
    for cell in shared.read_json(OURS)["cells"]:
        known = best.get(cell["dataset"])
        if cell["row"].startswith("acm") and (known is None or cell["mean"] > known["mean"]):
            best[cell["dataset"]] = cell
    return best


def run(dataset: str, minutes: float, workers: int, seed: int) -> dict[str, Any]:
    """Return the record of one dataset."""
    options = recipe_of({}, "acm-gcn", dataset, RELEASED).graph
    graph = open_graph(dataset, **options, direction="keep")
    wall, start = time.monotonic(), time.process_time()
    found = auto(
        graph,
        splits=graph.splits,
        minutes=minutes,
        score="accuracy",
        seed=seed,
        refit=True,
        workers=workers,
        engine="auto",
        clock=time.process_time,
        progress=lambda standing: print(
            f"\r{dataset}: {100 * standing.share:.0f} % of the time", end="", flush=True
        ),
    )
    print()
    if found.interrupted:
        raise KeyboardInterrupt
    return {
        "dataset": dataset,
        **found.to_dict(),
        "core_minutes": minutes,
        "cpu_seconds": time.process_time() - start,
        "wall_seconds": time.monotonic() - wall,
        "workers": workers,
        "seed": seed,
        "paper": dict(zip(("model", "mean", "std"), best_row(dataset), strict=True)),
        "versions": versions(),
        "command": shared.command(),
    }


def read(folder: Path, dataset: str) -> dict[str, Any] | None:
    path = folder / f"{dataset}.json"
    return shared.read_json(path) if path.is_file() else None


def page(folder: Path) -> str:
    """Return the README of the records."""
    lines = ["# The recipe `auto` beside the paper's best ACM row", "", INTRODUCTION, ""]
    titles = ["dataset", "auto, refit", "auto", "paper's best ACM row", "by us", "by us, refit"]
    lines += [shared.head([*titles, "chosen", "replicas", "core s"])]
    records = {d: record for d in DATASETS if (record := read(folder, d)) is not None}
    control = {d: record for d in records if (record := read(folder / "control", d)) is not None}
    refit, plain = (
        {d: record[part]["accuracy"]["mean"] for d, record in records.items()}
        for part in ("test", "test_before_refit")
    )
    paper = {d: record["paper"]["mean"] for d, record in records.items()}
    ours = {dataset: cell["mean"] for dataset, cell in our_best_rows().items()}
    ours_refit = {d: record["test"]["accuracy"]["mean"] for d, record in control.items()}
    for dataset in DATASETS:
        if dataset not in records:
            lines.append(f"| {dataset} | not run | | | | | | | |")
            continue
        record = records[dataset]
        published, accuracy = record["paper"], record["test"]["accuracy"]
        spread = accuracy.get("std", accuracy.get("spread"))  # its name before
        models = dict.fromkeys(row["model"] for row in record["chosen"])
        known = f"{100 * ours_refit[dataset]:.2f}" if dataset in ours_refit else "not run"
        lines.append(
            f"| {dataset} | {100 * refit[dataset]:.2f} ± {100 * spread:.2f} "
            f"| {100 * plain[dataset]:.2f} "
            f"| {100 * paper[dataset]:.2f} ± {100 * published['std']:.2f} ({published['model']}) "
            f"| {100 * ours[dataset]:.2f} | {known} | {', '.join(models)} | {record['replicas']} "
            f"| {record['cpu_seconds']:.0f} |"
        )
    counts = (
        f"*auto, refit* is at least the paper's best ACM row on {reached(refit, paper)} of "
        f"{len(records)} datasets, *auto* on {reached(plain, paper)}. With the same labels: *auto* "
        f"is at least *by us* on {reached(plain, ours)} of {len(records)}, *auto, refit* at least "
        f"*by us, refit* on {reached(refit, ours_refit)} of {len(ours_refit)}."
    )
    lines += ["", counts, "", CAUTION, ""]
    commands = {record["command"] for record in (*records.values(), *control.values())}
    lines += [
        "```",
        *sorted(commands),
        "python benchmarks/science/auto_recipe.py --show",
        "```",
        "",
    ]
    return "\n".join(lines)


def reached(ours: Mapping[str, float], theirs: Mapping[str, float]) -> int:
    """Return on how many datasets our number, in percent with two digits, is at least theirs."""
    both = ours.keys() & theirs.keys()
    return sum(round(100 * ours[d], 2) >= round(100 * theirs[d], 2) for d in both)


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--datasets", default=list(DATASETS), type=shared.names)
    parser.add_argument("--core-minutes", default=BUDGET, type=float)
    parser.add_argument("--workers", default=1, type=int)
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--folder", default=FOLDER, type=Path)
    parser.add_argument("--show", action="store_true", help="train nothing, render the README")
    arguments = parser.parse_args()
    if not 0 < arguments.core_minutes <= LIMIT:
        parser.error(f"--core-minutes is above 0 and at most {LIMIT:.0f}")
    if arguments.quick:
        print(run("texas", 0.01, 1, arguments.seed)["test"]["accuracy"])
        print(page(arguments.folder))
        return
    for dataset in [] if arguments.show else arguments.datasets:
        if read(arguments.folder, dataset) is not None:
            continue
        record = run(dataset, arguments.core_minutes, arguments.workers, arguments.seed)
        shared.write_json(arguments.folder / f"{dataset}.json", record)
        write_text(arguments.folder / "README.md", page(arguments.folder))
    write_text(arguments.folder / "README.md", page(arguments.folder))
    print(page(arguments.folder))


if __name__ == "__main__":
    main()
