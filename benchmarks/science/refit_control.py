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

import argparse
import json
import time
from typing import Any

from auto_recipe import DATASETS, FOLDER, our_best_rows

from heterophily.data.atomic import write_text
from heterophily.data.source import open_graph
from heterophily.paper.presets import RELEASED
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.estimate import estimate
from heterophily.prediction.families import Family
from heterophily.prediction.folds import refolded
from heterophily.prediction.members import SplitTrainer
from heterophily.runs.record import command_line, versions
from heterophily.search.space import recipe_of


def run(dataset: str) -> dict[str, Any]:
    """Return the record of one dataset."""
    cell = our_best_rows()[dataset]
    model, settings = cell["row"], cell["settings"]
    graph = open_graph(dataset, **recipe_of(settings, model, dataset, RELEASED).graph)
    assert graph.splits is not None
    folds = refolded(graph.splits, graph.labels, seed=0)
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
        "command": "python benchmarks/" + command_line(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=list(DATASETS), type=lambda text: text.split(","))
    folder = FOLDER / "control"
    folder.mkdir(parents=True, exist_ok=True)
    for dataset in parser.parse_args().datasets:
        path = folder / f"{dataset}.json"
        if not path.is_file():
            write_text(path, json.dumps(run(dataset), indent=1) + "\n")
        record = json.loads(path.read_text("utf-8"))
        accuracy = record["test"]["accuracy"]
        spread = accuracy.get("std", accuracy.get("spread"))  # its name before
        print(
            f"{dataset:10} {record['model']:12} {100 * record['on_given_splits']:.2f}, on folds "
            f"{100 * accuracy['mean']:.2f} ± {100 * spread:.2f} (single "
            f"{100 * record['test_single_member_accuracy']:.2f})"
        )


if __name__ == "__main__":
    main()
