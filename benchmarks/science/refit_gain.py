"""Whether the voters of ``auto`` gain when they are trained again on folds of training and
validation nodes: measured on validation nodes, no label of a test node is read.

Half of the validation nodes of a split are judges. With the other half the voters that recipe 6
chose are trained as ``auto`` trains them (it tells when to stop), or again on folds of it and the
training nodes together; then they vote on the judges. Both arms have the same number of members.
The voters were chosen with the judges in view, in both arms alike.

    python benchmarks/science/refit_gain.py --datasets texas,cora
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import Split, SplitBatch, split_generator
from heterophily.evaluation.scores import accuracy
from heterophily.filters.direction import EdgeDirection
from heterophily.paper.presets import RELEASED
from heterophily.prediction.candidates import Candidate, families_for, turned_family
from heterophily.prediction.ensemble import average
from heterophily.prediction.folds import refolded
from heterophily.prediction.members import Member, SplitTrainer
from heterophily.search.space import recipe_of

RECORDS = shared.RESULTS / "auto-recipe" / "recipe-6-with-25-minutes"


def voters(record: dict[str, Any]) -> list[Candidate]:
    """Return the voters of a record."""
    bases = families_for()
    ways: tuple[EdgeDirection, ...] = ("given", "both", "reversed")
    families = {f.label: f for f in (*bases, *(turned_family(b, w) for b in bases for w in ways))}
    return [Candidate(families[row["model"]], row["settings"]) for row in record["chosen"]]


def judged(splits: SplitBatch, seed: int) -> SplitBatch:
    """Return splits in which half of the validation nodes take the place of the test nodes."""
    found = []
    for number, split in enumerate(splits):
        nodes = split_generator(seed, number).permutation(np.flatnonzero(split.validation))
        half = nodes.size // 2
        found.append(
            Split.from_parts(split.train, nodes[:half], nodes[half:], num_nodes=splits.num_nodes)
        )
    return SplitBatch.stack(found)


def vote(
    graph: Graph, splits: SplitBatch, voters: list[Candidate], seeds: int
) -> dict[bytes, list[Member]]:
    """Train the voters on all splits; return the members by the nodes that judge them."""
    bench = SplitTrainer(graph, splits, workers=1)
    found: dict[bytes, list[Member]] = {}
    for candidate in voters:
        for seed in range(seeds):
            done = bench.train([(candidate, split, seed) for split in range(len(splits))])
            for (_, split, _), member in done.items():
                if member is not None:
                    found.setdefault(splits[split].test.tobytes(), []).append(member)
    return found


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--datasets", default=["texas"], type=shared.names)
    parser.add_argument("--splits", default=10, type=int)
    parser.add_argument(
        "--folds", default=[3, 5, 8], type=lambda text: list(map(int, text.split(",")))
    )
    parser.add_argument("--halves", default=1, type=int, help="so many ways to draw the judges")
    arguments = parser.parse_args()
    most = None
    if arguments.quick:
        arguments.splits, arguments.folds, most = 1, [2], 1
    for dataset in arguments.datasets:
        found = voters(shared.read_json(RECORDS / f"{dataset}.json"))[:most]
        options = recipe_of({}, "acm-gcn", dataset, RELEASED).graph
        graph = open_graph(dataset, **options, direction="keep")
        assert graph.splits is not None
        chosen = SplitBatch.stack(list(graph.splits)[: arguments.splits])
        means: dict[str, list[float]] = {}
        for half in range(arguments.halves):
            splits = judged(chosen, half)
            arms = {f"as given, {k} seeds": (splits, k) for k in arguments.folds}
            arms |= {
                f"{k} folds": (refolded(splits, graph.labels, seed=half, folds=k), 1)
                for k in arguments.folds
            }
            for name, (batch, seeds) in arms.items():
                for rows, members in vote(graph, batch, found, seeds).items():
                    nodes = np.flatnonzero(np.frombuffer(rows, np.bool_))
                    means.setdefault(name, []).append(
                        accuracy(graph.labels[nodes], average(members)[nodes])
                    )
        for name, values in means.items():
            print(
                f"{dataset:10} {name:20} {100 * np.mean(values):6.2f}  ({len(values)} judgements)",
                flush=True,
            )


if __name__ == "__main__":
    main()
