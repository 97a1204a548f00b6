"""The real graphs, their splits, and how much training each of them gets."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from heterophily.data.catalog import DATASETS, FOLDER_VARIABLE
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import Split, split_generator, stratified_split

GRAPHS = (
    "cornell", "wisconsin", "texas", "cornell-corrected", "chameleon-filtered", "cora", "citeseer",
    "chameleon", "squirrel-filtered", "fb100-Amherst41", "minesweeper", "film", "tolokers",
    "pubmed", "squirrel", "blogcatalog", "flickr", "deezer-europe", "fb100-Cornell5",
    "debian-trixie", "acl-year",
)  # fmt: skip
"""Small ones first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is trained: splits, epochs, settings of networks and size of trees."""

    splits: int
    max_epochs: int
    learning_rates: tuple[float, ...]
    weight_decays: tuple[float, ...]
    network_decays: tuple[float, ...]  # of models with a graph
    tree_rounds: int
    tree_columns: int  # of each block of columns


TINY = Plan(10, 2000, (0.01, 0.05), (5e-5, 5e-4, 5e-3), (5e-5, 5e-4, 5e-3), 150, 48)
SMALL = Plan(3, 2000, (0.01, 0.05), (5e-5, 5e-4, 5e-3), (5e-5, 5e-4, 5e-3), 150, 48)
MEDIUM = Plan(3, 500, (0.01, 0.05), (5e-5, 5e-4), (5e-5, 5e-4), 150, 48)
LARGE = Plan(3, 300, (0.01,), (5e-5, 5e-4), (5e-5,), 100, 32)
HUGE = Plan(1, 150, (0.01,), (5e-5,), (5e-5,), 30, 24)


def plan_for(graph: Graph) -> Plan:
    """Return the plan for a graph, by its edges, its features and its classes."""
    features = graph.features
    entries = 0 if features is None else features.nnz if sp.issparse(features) else features.size
    size = graph.adjacency.nnz + entries
    if graph.num_nodes < 1000:
        return TINY
    if size > 2_500_000 or graph.num_classes > 20:
        return HUGE
    return SMALL if size < 200_000 else MEDIUM if size < 700_000 else LARGE


def open_real(name: str) -> Graph:
    """Open a graph of the catalog, or a file of the data folder that is not in the catalog."""
    if name in DATASETS:
        return open_graph(name)
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        raise SystemExit(f"{name} is not in the catalog: set {FOLDER_VARIABLE} to its folder")
    return open_graph(Path(folder) / f"{name}.npz")


def splits_for(graph: Graph, count: int) -> tuple[str, list[Split]]:
    """Return the name of the split rule and the first ``count`` splits."""
    if graph.splits is not None:
        return "fixed", [graph.splits[i] for i in range(min(count, len(graph.splits)))]
    drawn = [
        stratified_split(
            graph.labels, rng=split_generator(0, i), train=0.6, validation=0.2, test=0.2
        )
        for i in range(count)
    ]
    return "stratified 60/20/20", drawn


def is_dense(graph: Graph) -> bool:
    """Whether features are few numbers of any size, which may need standardising."""
    features = graph.features
    if features is None:
        return False
    entries = features.nnz if sp.issparse(features) else np.count_nonzero(features)
    return entries > 0.25 * graph.num_nodes * graph.num_features or graph.num_features <= 64


def standardized(graph: Graph) -> Graph:
    """Return the graph with columns of mean 0 and standard deviation 1."""
    features = graph.features
    values = np.asarray(features.toarray() if sp.issparse(features) else features, np.float64)
    spread = values.std(axis=0)
    return graph.replace(features=(values - values.mean(axis=0)) / np.where(spread > 0, spread, 1))
