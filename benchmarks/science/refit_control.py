"""A control for ``auto --refit``: the best ACM row, trained on the same folds.

``auto`` with ``refit`` trains on labels of validation nodes, the paper's rows do not. Here the best
of the paper's eight ACM rows as we train them, by test accuracy (results/tables/fixed-splits.json),
with its published setting and stopping rule, is trained on five folds of training and validation
nodes of each split, and its five replicas vote. One JSON record per dataset under
``results/auto-recipe/control``; a finished dataset is not trained again. ``auto_recipe.py --show``
reads them.

    python benchmarks/science/refit_control.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from auto_recipe import DATASETS, FOLDER, our_best_rows

from heterophily.data.source import open_graph
from heterophily.data.splits import SplitBatch
from heterophily.paper.presets import RELEASED
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.estimate import estimate
from heterophily.prediction.families import Family
from heterophily.prediction.folds import refolded
from heterophily.prediction.members import SplitTrainer
from heterophily.runs.record import versions
from heterophily.search.space import recipe_of


def run(dataset: str, most: int | None = None) -> dict[str, Any]:
    """Return the record of one dataset; ``most``: of so many of its splits only."""
    cell = our_best_rows()[dataset]
    model, settings = cell["row"], cell["settings"]
    graph = open_graph(dataset, **recipe_of(settings, model, dataset, RELEASED).graph)
    assert graph.splits is not None
    splits = SplitBatch.stack(list(graph.splits)[:most])
    folds = refolded(splits, graph.labels, seed=0)
    bench, start = SplitTrainer(graph, folds, workers=1), time.process_time()
    candidate = Candidate(Family(model), settings)
    members = []
    for number in range(len(folds)):
        member = bench.train([(candidate, number, 0)])[candidate, number, 0]
        if member is not None:
            members.append(member)
        print(f"\r{dataset}: {model}, {number + 1} of {len(folds)}", end="", flush=True)
    print()
    found = estimate(members, graph, folds, temperature=1.0)
    return {
        "dataset": dataset,
        "model": model,
        "settings": settings,
        "on_given_splits": cell["mean"],
        "test": found.to_dict(),
        "test_single_member_accuracy": found.single,
        "members": len(members),
        "cpu_seconds": time.process_time() - start,
        "versions": versions(),
        "command": shared.command(),
    }


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--datasets", default=list(DATASETS), type=shared.names)
    given = parser.parse_args()
    for dataset in ["texas"] if given.quick else given.datasets:
        path = FOLDER / "control" / f"{dataset}.json"
        if given.quick:
            record = run(dataset, 1)
        else:
            if not path.is_file():
                shared.write_json(path, run(dataset))
            record = shared.read_json(path)
        accuracy = record["test"]["accuracy"]
        spread = accuracy.get("std", accuracy.get("spread"))  # its name before
        print(
            f"{dataset:10} {record['model']:12} {100 * record['on_given_splits']:.2f}, on folds "
            f"{100 * accuracy['mean']:.2f} ± {100 * spread:.2f} (single "
            f"{100 * record['test_single_member_accuracy']:.2f})"
        )


if __name__ == "__main__":
    main()
