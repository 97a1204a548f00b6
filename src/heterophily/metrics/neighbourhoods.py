"""Metrics of neighbourhoods: how alike the neighbours of a class are, by their classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.metrics.label_counts import label_counts, need_edges, need_labels
from heterophily.metrics.statistics import LabelStatistics, NeighbourhoodSums


def neighbourhood_sums(graph: Graph | LabelStatistics, name: str) -> NeighbourhoodSums:
    """Return the sums that the metrics of neighbourhoods need; ``name`` is for a refusal.

    Nodes without a label or without a labelled neighbour are left out.
    """
    need_labels(graph, name, classes=2)
    if isinstance(graph, LabelStatistics):
        need_edges(graph, graph, name)
        return graph.neighbourhoods
    counts = label_counts(graph)
    need_edges(counts, graph, name)
    chosen = np.flatnonzero(counts.is_labelled & (counts.any_class > 0))
    shares = counts.neighbours[chosen] / counts.any_class[chosen, None]
    return NeighbourhoodSums.of_rows(shares, graph.labels[chosen], graph.num_classes)


def neighbourhood_identifiability(graph: Graph | LabelStatistics) -> float:
    r"""How far neighbourhoods of a class have a pattern of their own, in [0, 1]; 0 is the clearest
    (Chen et al. 2023, "Exploiting neighbor effect").

    .. math:: H = \sum_k \frac{n_k}{N} \Bigl(-\frac{1}{\log C} \sum_i \sigma_i^k
              \log \sigma_i^k\Bigr)

    where :math:`\sigma^k` are the singular values, scaled to sum 1, of the matrix with a row for
    each node of class k: the shares of the classes among its neighbours. They are the roots of
    the eigenvalues of a C x C matrix.

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> neighbourhood_identifiability(bipartite)
    0.0
    """
    sums = neighbourhood_sums(graph, "neighbourhood identifiability")
    total = 0.0
    for k in np.flatnonzero(sums.nodes):
        roots = np.sqrt(np.maximum(np.linalg.eigvalsh(sums.grams[k]), 0.0))
        roots = roots[roots > 1e-9 * roots.max()] / roots.sum()
        total += int(sums.nodes[k]) * float(-(roots * np.log(roots)).sum())
    return max(total / int(sums.nodes.sum()) / float(np.log(graph.num_classes)), 0.0)


def cross_class_neighbourhood_similarity(graph: Graph | LabelStatistics) -> NDArray[np.float64]:
    r"""Mean cosine of the neighbourhoods of a node of class k and one of class l, (C, C)
    (Ma et al. 2022, "Is homophily a necessity for graph neural networks?").

    .. math:: s(k, l) = \frac{1}{n_k n_l} \sum_{u \in k} \sum_{v \in l} \cos(d(u), d(v))

    where d(v) counts the classes of the neighbours of v. Rows of classes without a node that has
    labelled neighbours are zero. The double sum is a product of class sums.

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> cross_class_neighbourhood_similarity(bipartite).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    sums = neighbourhood_sums(graph, "cross class neighbourhood similarity")
    means = sums.units / np.maximum(sums.nodes, 1)[:, None]
    return np.asarray(means @ means.T)


def neighbourhood_contrast(graph: Graph | LabelStatistics) -> float:
    r"""How much more alike neighbourhoods are within classes than between them, in [-1, 1].

    .. math:: \frac{1}{C} \sum_k s(k, k) - \frac{1}{C (C - 1)} \sum_{k \ne l} s(k, l)

    of :func:`cross_class_neighbourhood_similarity`, over the classes that have such nodes: one
    number for the comparison that Ma et al. make by eye.

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> neighbourhood_contrast(bipartite)
    1.0
    """
    similarity = cross_class_neighbourhood_similarity(graph)
    present = np.flatnonzero(np.diag(similarity) > 0)
    chosen = similarity[np.ix_(present, present)]
    within = float(np.trace(chosen)) / present.size
    pairs = present.size * (present.size - 1)
    between = (float(chosen.sum()) - float(np.trace(chosen))) / max(pairs, 1)
    return within - between


def structural_homophily(graph: Graph | LabelStatistics) -> float:
    r"""How little neighbourhoods differ within a class, at most 1
    (Zheng et al. 2024, arXiv 2406.18854, the structural part of Tri-Hom).

    .. math:: h_S = 1 - \frac{1}{C} \sum_k \frac{\bar s_k}{s_\text{max}}, \qquad
              s_\text{max} = \sqrt{\frac{1}{C} \Bigl(1 - \frac{1}{C}\Bigr)}

    where :math:`\bar s_k` is the mean, over the C classes, of the standard deviation of their
    shares among the neighbours of nodes of class k.

    >>> bipartite = Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], labels=[0, 0, 1, 1])
    >>> structural_homophily(bipartite)
    1.0
    """
    sums = neighbourhood_sums(graph, "structural homophily")
    count = graph.num_classes
    largest = np.sqrt((1 - 1 / count) / count)
    spreads = [sums.spreads[k].mean() for k in np.flatnonzero(sums.nodes)]
    return float(1.0 - np.mean(spreads) / largest)
