"""Does ``auto`` see what one naive choice does not? Small generated graphs, one catch in each.

    python benchmarks/science/auto_catches.py          # 15 CPU seconds for each graph
    python benchmarks/science/auto_catches.py --quick  # one graph, seconds; keeps no record

On every graph the rule that made the labels is known, and one naive choice fails: a family alone,
or edges without their direction. ``auto`` has caught it when it is at least four fifths of the way
from the naive choice to the rule itself, on the same test nodes. Labels and edges are noisy, so the
rule is not always right either. The record is ``results/auto-suite/catches.json``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from auto_graphs import SPLITS

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, SplitBatch, random_splits
from heterophily.evaluation.scores import SCORES
from heterophily.prediction.auto import auto
from heterophily.runs.record import versions

SECONDS = 15.0  # CPU seconds of one core, for auto and for the naive choice
ENOUGH = 0.8  # of the way from the naive choice to the rule
FLIPPED = 0.05  # share of the labels that are drawn anew
RECORD = shared.RESULTS / "auto-suite" / "catches.json"

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Catch:
    """A graph, the answers of the rule that made its labels, and the naive choice."""

    graph: Graph
    rule: Ints
    naive: str
    keeps_direction: bool = True
    train: int | None = None  # nodes that train, and as many that validate; None: 60/20/20

    def splits(self) -> SplitBatch:
        """Return three splits."""
        if self.train is None:
            return random_splits(self.graph.labels, repeats=SPLITS, seed=0)
        found = []
        known = np.flatnonzero(self.graph.is_labelled)
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(known)
            parts = order[: self.train], order[self.train : 2 * self.train], order[2 * self.train :]
            found.append(Split.from_parts(*parts, num_nodes=self.graph.num_nodes))
        return SplitBatch.stack(found)


def _noisy(rule: Ints, classes: int, rng: np.random.Generator) -> Ints:
    drawn = rng.integers(0, classes, rule.size)
    return np.where(rng.random(rule.size) < FLIPPED, drawn, rule)


def _joined(
    source: Ints, group: Ints, wanted: Ints, rng: np.random.Generator, *, noise: float = 0.05
) -> tuple[Ints, Ints]:
    """Join every source to a random node of the group that it wants, a few to any node."""
    target = rng.integers(0, group.size, source.size)
    for each in np.unique(wanted):
        mine = np.flatnonzero((wanted == each) & (rng.random(source.size) >= noise))
        target[mine] = rng.choice(np.flatnonzero(group == each), mine.size)
    return source, target


def _through_others(
    rule: Ints, others: Ints, rng: np.random.Generator, *, links: int, classes: int
) -> Catch:
    """Join nodes of a rule to others of the same kind, which have no labels; columns are noise."""
    count, more = rule.size, others.size
    group = np.concatenate([np.full(count, -1), others])
    source, target = _joined(np.repeat(np.arange(count), links), group, np.repeat(rule, links), rng)
    labels = np.concatenate([_noisy(rule, classes, rng), np.full(more, -1)])
    features = rng.normal(size=(count + more, 4))
    graph = Graph.from_edges(source, target, labels=labels, features=features)
    return Catch(graph, np.concatenate([rule, np.zeros(more, np.int64)]), "gcn")


def degree(rng: np.random.Generator) -> Catch:
    """Only the number of neighbours tells: 3 or 9 edges drawn; columns are noise."""
    rule = rng.integers(0, 2, 1500)
    source = np.repeat(np.arange(1500), np.where(rule == 1, 9, 3))
    target = rng.permutation(source)
    features = rng.normal(size=(1500, 4))
    labels = _noisy(rule, 2, rng)
    return Catch(Graph.from_edges(source, target, labels=labels, features=features), rule, "trees")


def two_edges_away(rng: np.random.Generator) -> Catch:
    """People buy products of their taste; products have no label, and all columns are noise."""
    rule = rng.integers(0, 3, 1500)
    taste = rng.integers(0, 3, 1000)
    return _through_others(rule, taste, rng, links=4, classes=3)


def direction(rng: np.random.Generator) -> Catch:
    """Senders pay hubs and hubs pay receivers: without the direction the two look alike."""
    rule = rng.choice(3, 1500, p=[0.4, 0.4, 0.2])
    others = np.repeat(np.flatnonzero(rule < 2), 3)
    hubs = rng.choice(np.flatnonzero(rule == 2), others.size)
    sends = (rule[others] == 0) ^ (rng.random(others.size) < 0.05)
    source, target = np.where(sends, others, hubs), np.where(sends, hubs, others)
    labels, features = _noisy(rule, 3, rng), rng.normal(size=(1500, 4))
    how = {"labels": labels, "features": features, "direction": "keep"}
    return Catch(Graph.from_edges(source, target, **how), rule, "trees-labels", False)


def neighbours_labels(rng: np.random.Generator) -> Catch:
    """The class follows from the neighbours' class, never from a column."""
    rule = rng.integers(0, 4, 1500)
    source = np.repeat(np.arange(0, 1500, 2), 5)
    side = np.where(np.arange(1500) % 2 == 1, rule, -1)
    source, target = _joined(source, side, (rule[source] + 1) % 4, rng)
    labels, features = _noisy(rule, 4, rng), rng.normal(size=(1500, 4))
    return Catch(
        Graph.from_edges(source, target, labels=labels, features=features), rule, "acm-gcn"
    )


def noise_edges(rng: np.random.Generator) -> Catch:
    """The edges are noise; columns tell."""
    rule = rng.integers(0, 3, 1500)
    features = 3.0 * np.eye(3)[rule] + rng.normal(size=(1500, 3))
    source, target = rng.integers(0, 1500, (2, 9000))
    labels = _noisy(rule, 3, rng)
    told = features.argmax(axis=1)
    return Catch(Graph.from_edges(source, target, labels=labels, features=features), told, "gcn")


def two_columns_together(rng: np.random.Generator) -> Catch:
    """The class is the sign of a product of two columns; edges are noise."""
    features = rng.normal(size=(2000, 5))
    rule = (features[:, 0] * features[:, 1] > 0).astype(np.int64)
    source, target = rng.integers(0, 2000, (2, 6000))
    labels = _noisy(rule, 2, rng)
    return Catch(Graph.from_edges(source, target, labels=labels, features=features), rule, "gcn")


def few_labels(rng: np.random.Generator) -> Catch:
    """Of 2,000 nodes 24 train; edges stay within a class, columns tell little."""
    rule = rng.integers(0, 3, 2000)
    source = np.repeat(np.arange(2000), 4)
    source, target = _joined(source, rule, rule[source], rng, noise=0.15)
    features = 0.5 * np.eye(3)[rule] + rng.normal(size=(2000, 3))
    labels = _noisy(rule, 3, rng)
    graph = Graph.from_edges(source, target, labels=labels, features=features)
    return Catch(graph, rule, "trees", train=24)


def edge_types(rng: np.random.Generator) -> Catch:
    """Edges of one type join a class, those of the other join different classes."""
    rule = rng.integers(0, 3, 1500)
    source = np.repeat(np.arange(1500), 2)
    same = _joined(source, rule, rule[source], rng)
    other = _joined(source, rule, (rule[source] + rng.integers(1, 3, source.size)) % 3, rng)
    features = rng.normal(size=(1500, 3))
    graph = Graph.from_edges(
        np.concatenate([same[0], other[0]]),
        np.concatenate([same[1], other[1]]),
        labels=_noisy(rule, 3, rng),
        features=features,
        edge_type=np.repeat(["same", "other"], source.size),
    )
    return Catch(graph, rule, "acm-gcn")


def difference(rng: np.random.Generator) -> Catch:
    """The class is whether a node has more than its neighbours; groups have different levels."""
    group = rng.integers(0, 6, 1500)
    source = np.repeat(np.arange(1500), 6)
    source, target = _joined(source, group, group[source], rng, noise=0.02)
    rule = rng.integers(0, 2, 1500)
    value = 4.0 * rng.permutation(6)[group] + np.where(rule == 1, 1.0, -1.0)
    value = value + rng.normal(0, 0.5, 1500)
    features = np.column_stack([value, rng.normal(size=1500)])
    labels = _noisy(rule, 2, rng)
    return Catch(Graph.from_edges(source, target, labels=labels, features=features), rule, "gcn")


def which_neighbours(rng: np.random.Generator) -> Catch:
    """Who one is connected to tells: 40 hubs without labels, columns are noise."""
    rule = rng.integers(0, 4, 1500)
    return _through_others(rule, np.arange(40) % 4, rng, links=3, classes=4)


def rare(rng: np.random.Generator) -> Catch:
    """One of 20 accounts is bad; bad ones share devices with bad ones, columns tell little."""
    rule = (rng.random(3000) < 0.05).astype(np.int64)
    source = np.repeat(np.arange(3000), 3)
    source, target = _joined(source, rule, rule[source], rng, noise=0.3)
    features = rng.normal(size=(3000, 4)) + 0.3 * rule[:, None]
    return Catch(Graph.from_edges(source, target, labels=rule, features=features), rule, "mlp-2")


CATCHES: Mapping[str, Callable[[np.random.Generator], Catch]] = {
    "degree": degree,
    "two edges away": two_edges_away,
    "direction": direction,
    "neighbours' labels": neighbours_labels,
    "noise edges": noise_edges,
    "two columns together": two_columns_together,
    "few labels": few_labels,
    "types of edges": edge_types,
    "difference to neighbours": difference,
    "which neighbours": which_neighbours,
    "rare class": rare,
}


def run(name: str, seconds: float, seed: int) -> dict[str, Any]:
    """Return what auto, the naive choice and the rule have on the test nodes of a graph."""
    catch = CATCHES[name](np.random.default_rng([2026, seed]))
    splits = catch.splits()
    how: dict[str, Any] = {
        "splits": splits,
        "workers": 1,
        "clock": time.process_time,
    }
    start = time.process_time()
    result = auto(catch.graph, minutes=seconds / 60, **how)
    spent = time.process_time() - start
    flat = catch.graph if catch.keeps_direction else _without_direction(catch.graph)
    naive = auto(flat, minutes=seconds / 60, families=[catch.naive], max_trials=1, seeds=1, **how)
    score, rows = result.score, [np.flatnonzero(split.test) for split in splits]
    told = np.eye(catch.graph.num_classes)[catch.rule]
    ruled = np.mean([SCORES[score](catch.graph.labels[each], told[each]) for each in rows])
    best, simple = (float(np.mean(r.estimate.evaluation.main.values)) for r in (result, naive))
    return {
        "graph": name,
        "naive_choice": catch.naive + ("" if catch.keeps_direction else ", edges both ways"),
        "score": score,
        "auto": round(best, 4),
        "naive": round(simple, 4),
        "rule": round(float(ruled), 4),
        "caught": bool(best >= simple + ENOUGH * (ruled - simple)),
        "chosen": [trial.candidate.family.label for trial in result.choice.trials],
        "verdict": result.verdict.kind,
        "cpu_seconds": round(spent, 1),
    }


def _without_direction(graph: Graph) -> Graph:
    rows, columns = graph.adjacency.nonzero()
    return Graph.from_edges(rows, columns, labels=graph.labels, features=graph.features)


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the records as a table."""
    titles = [
        "what tells",
        "naive choice",
        "score",
        "naive",
        "auto",
        "the rule",
        "caught",
        "chosen",
    ]
    lines = [shared.head(titles)]
    for found in records:
        values = [f"{100 * found[key]:.1f}" for key in ("naive", "auto", "rule")]
        cells = [found["graph"], found["naive_choice"], found["score"], *values]
        lines.append(
            shared.line([*cells, "yes" if found["caught"] else "no", ", ".join(found["chosen"])])
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all graphs, or those that are named."""
    parser = shared.parser(__doc__)
    parser.add_argument("--graphs", help="names, separated by commas; others keep their record")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.quick:
        print(table([run("direction", 2.0, options.seed)]))
        return
    names = shared.names(options.graphs) if options.graphs else list(CATCHES)
    before = shared.read_json(RECORD)["graphs"] if options.graphs and RECORD.exists() else []
    found = {record["graph"]: record for record in before}
    for name in names:
        found[name] = run(name, SECONDS, options.seed)
        print(table([found[name]]).splitlines()[-1], flush=True)
    kept = [found[name] for name in CATCHES if name in found]
    how = {"seconds": SECONDS, "seed": options.seed, "command": shared.command()}
    shared.write_json(RECORD, {**how, "versions": versions(), "graphs": kept})
    print(f"\n{table(kept)}\n\n{sum(f['caught'] for f in kept)} of {len(kept)} caught.")


if __name__ == "__main__":
    main()
