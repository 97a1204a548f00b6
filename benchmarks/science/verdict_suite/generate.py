"""A recipe is a value; a graph is drawn from it: labels, then edges, then features."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from verdict_suite.columns import Columns, Words
from verdict_suite.edges import BlockEdges, EdgeList, Lattice
from verdict_suite.rules import Rule

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How to draw a graph.

    ``name`` is ``phenomenon/variant``; ``shares`` (K,) are the shares of the blocks and
    ``classes`` (K,) their classes (default: each block is a class).
    """

    name: str
    description: str
    nodes: int
    shares: tuple[float, ...]
    edges: BlockEdges | Lattice
    columns: tuple[Columns, ...] = ()
    classes: tuple[int, ...] | None = None
    rule: Rule | None = None

    @property
    def class_of(self) -> Ints:
        """Class of each block, (K,)."""
        return np.arange(len(self.shares)) if self.classes is None else np.array(self.classes)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.class_of.max()) + 1 if self.rule is None else self.rule.classes

    @property
    def block_shares(self) -> Floats:
        """Share of each block, (K,)."""
        return np.array(self.shares) / np.sum(self.shares)

    @property
    def fingerprint(self) -> str:
        """Changes with any parameter, so that records of an older recipe are not used."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]

    def groups(self, columns: Columns) -> tuple[Ints, int]:
        """Return the group of each block (K,) that a group of columns tells, and their number."""
        found = self.class_of if columns.groups is None else np.array(columns.groups)
        return found, int(found.max()) + 1


@dataclass(frozen=True, eq=False)
class Sample:
    """A graph with what only its maker knows: the blocks, and the columns group by group."""

    recipe: Recipe
    blocks: Ints
    labels: Ints
    edges: EdgeList
    parts: tuple[Floats, ...]
    features: Floats | None  # all columns side by side

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The adjacency matrix with weights; rows are sources."""
        return adjacency_of(self.edges, self.blocks.size, self.recipe.edges.is_directed)

    def graph(self) -> Graph:
        """Return what the diagnosis sees."""
        features = self.features
        columns = self.recipe.columns
        is_sparse = bool(columns) and all(isinstance(part, Words) for part in columns)
        return Graph.from_edges(
            self.edges.source,
            self.edges.target,
            weight=self.edges.weight,
            direction="keep" if self.recipe.edges.is_directed else "drop",
            features=sp.csr_array(features) if is_sparse else features,
            labels=self.labels,
            num_nodes=self.blocks.size,
            name=self.recipe.name.replace("/", "-"),
        )


def adjacency_of(edges: EdgeList, nodes: int, is_directed: bool) -> sp.csr_array:
    """Return the adjacency matrix (N, N) of an edge list."""
    data = np.ones(edges.source.size) if edges.weight is None else edges.weight
    matrix = sp.csr_array((data, (edges.source, edges.target)), shape=(nodes, nodes))
    return sp.csr_array(matrix if is_directed else matrix + matrix.T)


def generator(name: str, *stream: int) -> np.random.Generator:
    """Return the random numbers of a purpose: a name and whole numbers."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.default_rng([number, *stream])


def draw(recipe: Recipe, rng: np.random.Generator) -> Sample:
    """Draw one graph."""
    shares = recipe.block_shares
    cuts = np.floor(np.cumsum(shares) * recipe.nodes + 0.5).astype(int)
    blocks = np.repeat(np.arange(shares.size), np.diff(np.concatenate([[0], cuts])))
    blocks = rng.permutation(blocks)
    labels = recipe.class_of[blocks]
    edges = recipe.edges.draw(blocks, shares, rng)
    parts = []
    for columns in recipe.columns:
        groups, count = recipe.groups(columns)
        parts.append(columns.draw(groups[blocks], count, rng))
    features = np.hstack(parts) if parts else None
    if recipe.rule is not None:
        given = np.zeros((recipe.nodes, 0)) if features is None else features
        adjacency = adjacency_of(edges, recipe.nodes, recipe.edges.is_directed)
        found, labels = recipe.rule.apply(adjacency, given, labels, rng)
        features = found if found.shape[1] else None
    return Sample(recipe, blocks, labels, edges, tuple(parts), features)


def seeded_sample(recipe: Recipe, seed: int) -> Sample:
    """Return the graph of a recipe that the diagnosis is asked about."""
    return draw(recipe, generator(recipe.name, seed, 0))


def hide_labels(graph: Graph, share: float, recipe: Recipe, seed: int) -> Graph:
    """Return the graph with a share of its labels left, drawn uniformly."""
    if share >= 1.0:
        return graph
    order = generator(recipe.name, seed, 1).permutation(graph.num_nodes)
    labels = graph.labels.copy()
    labels[order[round(share * graph.num_nodes) :]] = -1
    return graph.replace(labels=labels, class_names=None)
