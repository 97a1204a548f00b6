"""Which rule should choose the voters of ``auto``? Compared without a test node.

A number of settings is trained on the first fixed splits. Then, many times: the labelled nodes are
divided into two halves at random, a rule chooses voters on the validation nodes of one half, and
its vote is scored on those of the other half (the same node is in the same half in every split).
Labels of test nodes are never read. It is near to what ``auto`` does, not the same: nodes of all
splits count together, one seed each, and the greedy rules choose among the 20 most accurate.
``auto`` has "greedy by log likelihood" with the accuracy kept.

    python benchmarks/science/ensemble_rules.py --datasets texas,cornell,wisconsin,cora --settings 80
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.data.source import open_graph
from heterophily.evaluation.scores import Score, accuracy, log_likelihood
from heterophily.paper.presets import RELEASED
from heterophily.prediction.candidates import draw, families_for
from heterophily.prediction.ensemble import SCORE_MAY_FALL
from heterophily.prediction.members import SplitTrainer
from heterophily.search.space import recipe_of

Votes = NDArray[np.float64]  # (settings, validation nodes of all splits, classes)
Rule = Callable[[Votes, NDArray[np.int64]], list[int]]
NODES = 400  # as many splits as hold so many validation nodes


def top(count: int) -> Rule:
    """Return the rule that the most accurate ones vote."""
    return lambda votes, labels: ranked(votes, labels)[:count]


def greedy(by: Score, *, to_the_end: bool = False, may_fall: float = math.inf) -> Rule:
    """Return the rule that the best one votes, then whoever helps most, until nobody does.

    ``to_the_end``: everybody joins in this order, and those vote with whom it was best.
    ``may_fall``: by so much the accuracy may be below that of the best one.
    """

    def rule(votes: Votes, labels: NDArray[np.int64]) -> list[int]:
        pool = ranked(votes, labels)[:20]
        chosen = [pool.pop(0)]
        scores = [by(labels, votes[chosen[0]])]
        lowest = accuracy(labels, votes[chosen[0]]) - may_fall
        while pool:
            if may_fall < math.inf:
                pool = [i for i in pool if accuracy(labels, votes[[*chosen, i]].mean(0)) >= lowest]
                if not pool:
                    break
            values = [by(labels, votes[[*chosen, i]].mean(0)) for i in pool]
            if max(values) < scores[-1] and not to_the_end:
                break
            scores.append(max(values))
            chosen.append(pool.pop(int(np.argmax(values))))
        return chosen[: 1 + int(np.argmax(scores))] if to_the_end else chosen

    return rule


RULES: dict[str, Rule] = {
    **{f"the best {count}": top(count) for count in (1, 3, 5, 10, 20)},
    "greedy by accuracy": greedy(accuracy),
    "greedy by log likelihood": greedy(log_likelihood),
    "the same, accuracy kept": greedy(log_likelihood, may_fall=SCORE_MAY_FALL),
    "to the end, by accuracy": greedy(accuracy, to_the_end=True),
}


def ranked(votes: Votes, labels: NDArray[np.int64]) -> list[int]:
    return [int(i) for i in np.argsort([-accuracy(labels, v) for v in votes], kind="stable")]


def trained(
    dataset: str, settings: int, enough: int
) -> tuple[Votes, NDArray[np.int64], NDArray[np.int64]]:
    """Return votes, labels and nodes: the validation nodes of all splits, one after another."""
    graph = open_graph(dataset, **recipe_of({}, "acm-gcn", dataset, RELEASED).graph)
    assert graph.splits is not None
    nodes = [np.flatnonzero(split.validation) for split in graph.splits]
    found = [c for family in draw(families_for(), seed=0).values() for c in family]
    bench = SplitTrainer(graph, graph.splits, workers=1)
    count = min(len(nodes), math.ceil(enough / np.mean([rows.size for rows in nodes])))
    votes = []
    for number, candidate in enumerate(random.Random(1).sample(found, settings), start=1):
        members = bench.train([(candidate, split, 0) for split in range(count)]).values()
        if all(members):
            votes.append(np.concatenate([m.probabilities[nodes[m.split]] for m in members if m]))
        print(f"\r{dataset}: {number} of {settings} settings", end="", flush=True)
    print()
    rows = np.concatenate(nodes[:count])
    return np.stack(votes), graph.labels[rows], rows


def compare(votes: Votes, labels: NDArray[np.int64], rows: NDArray[np.int64], halves: int) -> None:
    rng = np.random.default_rng(0)
    scores: dict[str, list[float]] = {name: [] for name in RULES}
    sizes: dict[str, list[int]] = {name: [] for name in RULES}
    for _ in range(halves):
        here = (rng.random(rows.max() + 1) < 0.5)[rows]
        for name, rule in RULES.items():
            chosen = rule(votes[:, here], labels[here])
            scores[name].append(accuracy(labels[~here], votes[chosen][:, ~here].mean(0)))
            sizes[name].append(len(chosen))
    for name in RULES:
        print(f"  {name:24} {100 * np.mean(scores[name]):6.2f}  {np.mean(sizes[name]):5.1f} voters")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--datasets", default=["texas"], type=shared.names)
    parser.add_argument("--settings", default=60, type=int)
    parser.add_argument("--halves", default=50, type=int)
    chosen = parser.parse_args(arguments)
    nodes = NODES
    if chosen.quick:
        chosen.settings, chosen.halves, nodes = 2, 2, 50
    for dataset in chosen.datasets:
        compare(*trained(dataset, chosen.settings, nodes), chosen.halves)


if __name__ == "__main__":
    main()
