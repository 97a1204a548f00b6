"""The graphs of ``benchmarks/science/auto_suite.py``: real ones, and generated ones with a known catch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from real_gain.graphs import open_real

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, SplitBatch, random_splits

SPLITS = 3
REAL = (
    "cornell", "cornell-corrected", "texas", "wisconsin", "chameleon-filtered", "squirrel-filtered",
    "cora", "citeseer", "chameleon", "fb100-Amherst41", "minesweeper", "film", "tolokers",
    "squirrel", "pubmed", "blogcatalog", "flickr", "deezer-europe", "fb100-Cornell5",
    "debian-trixie", "acl-year",
)  # fmt: skip
"""Small ones first."""

Ints = NDArray[np.int64]


def is_measured(name: str) -> bool:
    """Whether a real graph is of the half that was not looked at while ``auto`` was tuned.

    It follows from a hash of the name. Generated graphs were looked at with seed 0 and are measured
    with another one.
    """
    return name in MADE or hashlib.sha256(name.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, eq=False)
class Task:
    """A graph and its splits."""

    graph: Graph
    splits: SplitBatch
    rule: str


def task(name: str, *, seed: int = 1) -> Task:
    """Return a graph by name, with the first three of its splits, or three that are drawn."""
    if name in MADE:
        return MADE[name](np.random.default_rng([2026, seed]))
    graph = open_real(name)
    if graph.splits is not None:
        first = [graph.splits[k] for k in range(min(SPLITS, len(graph.splits)))]
        return Task(graph, SplitBatch.stack(first), "first fixed splits")
    return _task(graph)


def _task(graph: Graph) -> Task:
    return Task(graph, random_splits(graph.labels, repeats=SPLITS, seed=0), "random 60/20/20")


def _edges(
    rng: np.random.Generator, groups: Ints, mixing: NDArray[np.float64], count: int
) -> tuple[Ints, Ints]:
    """Draw edges: the group of the second end follows from that of the first."""
    source = rng.integers(0, groups.size, count)
    target = np.zeros(count, np.int64)
    for k in range(mixing.shape[0]):
        mine = np.flatnonzero(groups[source] == k)
        wanted = rng.choice(mixing.shape[1], mine.size, p=mixing[k] / mixing[k].sum())
        for other in range(mixing.shape[1]):
            there = np.flatnonzero(groups == other)
            asked = mine[wanted == other]
            target[asked] = rng.choice(there, asked.size)
    return source, target


def fraud(rng: np.random.Generator) -> Task:
    """6 % of the accounts are fraudulent: numbers tell a little, whom they deal with tells more."""
    is_fraud = (rng.random(4000) < 0.06).astype(np.int64)
    role = np.where(is_fraud == 1, 0, rng.choice([1, 2, 3], 4000, p=[0.3, 0.1, 0.6]))
    mixing = np.array([[0, 8, 4, 1], [3, 2, 2, 8], [3, 2, 1, 6], [1, 4, 2, 9]], float)
    source, target = _edges(rng, role, mixing, 16_000)
    income = np.exp(rng.normal(7.5 - 0.3 * is_fraud, 0.8))
    age = rng.normal(43 - 5 * is_fraud, 14)
    noise = rng.normal(0, 100, (4000, 3))
    features = np.column_stack([income, age, noise])
    return _task(Graph.from_edges(source, target, labels=is_fraud, features=features))


def dating(rng: np.random.Generator, *, with_column: bool = True) -> Task:
    """Two sides; the class follows from the partner's class; one column says nothing."""
    labels, side = rng.integers(0, 3, 2000), np.arange(2000) % 2
    groups = labels + 3 * side
    mixing = np.zeros((6, 6))
    for k in range(3):
        mixing[k, 3 + (k + 1) % 3] = mixing[3 + (k + 1) % 3, k] = 1.0
    source, target = _edges(rng, groups, mixing + 0.02, 6000)
    age = rng.integers(18, 70, (2000, 1)).astype(float) if with_column else None
    return _task(Graph.from_edges(source, target, labels=labels, features=age, num_nodes=2000))


def typed(rng: np.random.Generator) -> Task:
    """Edges of two types: "same" joins a class, "other" joins different classes."""
    labels = rng.integers(0, 4, 2000)
    same = _edges(rng, labels, np.eye(4) + 0.05, 4000)
    other = _edges(rng, labels, 1.0 - np.eye(4) + 0.02, 4000)
    features = np.eye(4)[labels] + rng.normal(0, 2.0, (2000, 4))
    graph = Graph.from_edges(
        np.concatenate([same[0], other[0]]),
        np.concatenate([same[1], other[1]]),
        labels=labels,
        features=features,
        edge_type=np.repeat(["same", "other"], [4000, 4000]),
    )
    return _task(graph)


def twenty(rng: np.random.Generator) -> Task:
    """Twenty classes on a ring: neighbours are of the next class; words tell a little."""
    labels = rng.integers(0, 20, 3000)
    mixing = np.roll(np.eye(20), 1, axis=1) + 0.01
    source, target = _edges(rng, labels, mixing, 9000)
    rates = rng.random((20, 100)) ** 6
    features = (rng.random((3000, 100)) < 0.3 * rates[labels] + 0.02).astype(float)
    return _task(Graph.from_edges(source, target, labels=labels, features=features))


def one_percent(rng: np.random.Generator) -> Task:
    """One node of a hundred has a label: half of them train, half validate."""
    labels = rng.integers(0, 4, 6000)
    source, target = _edges(rng, labels, np.eye(4) + 0.1, 24_000)
    features = np.eye(4)[labels] @ rng.normal(0, 1, (4, 20)) + rng.normal(0, 2.5, (6000, 20))
    graph = Graph.from_edges(source, target, labels=labels, features=features)
    splits = []
    for _ in range(SPLITS):
        order = rng.permutation(6000)
        parts = (order[:30], order[30:60], order[60:])
        splits.append(Split.from_parts(*parts, num_nodes=6000))
    return Task(graph, SplitBatch.stack(splits), "0.5/0.5/99 %")


def noise_edges(rng: np.random.Generator) -> Task:
    """The edges say nothing; the class follows from two columns together."""
    features = rng.normal(0, 1, (2500, 6))
    labels = ((features[:, 0] * features[:, 1] > 0) ^ (rng.random(2500) < 0.1)).astype(np.int64)
    source, target = rng.integers(0, 2500, (2, 10_000))
    return _task(Graph.from_edges(source, target, labels=labels, features=features))


def tiny_class(rng: np.random.Generator) -> Task:
    """150 nodes, one class has two of them."""
    labels = np.concatenate([np.full(2, 2), rng.integers(0, 2, 148)])
    source, target = _edges(rng, labels, np.array([[1, 4, 1], [4, 1, 1], [1, 1, 1]], float), 450)
    features = np.eye(3)[labels] + rng.normal(0, 1.5, (150, 3))
    return _task(Graph.from_edges(source, target, labels=labels, features=features))


MADE: Mapping[str, Callable[[np.random.Generator], Task]] = {
    "made-tiny-class": tiny_class,
    "made-dating": dating,
    "made-dating-bare": lambda rng: dating(rng, with_column=False),
    "made-typed": typed,
    "made-noise-edges": noise_edges,
    "made-fraud": fraud,
    "made-twenty": twenty,
    "made-one-percent": one_percent,
}
GRAPHS = (*MADE, *REAL)
