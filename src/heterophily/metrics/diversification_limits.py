"""Where diversification cannot help: classes that differ from their neighbours in the same way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heterophily.data.graph import Graph
from heterophily.filters.normalization import Normalization, NormalizedAdjacency
from heterophily.metrics.label_counts import need_labels, one_hot_labels

LIKENESS = 0.25
"""From this likeness on two classes count as alike: half of what two one-hot classes can reach."""

_NAME = "the limit of diversification"


@dataclass(frozen=True, slots=True)
class AlikeClasses:
    """Two classes that the high pass does not tell apart, and what both are linked to.

    ``likeness`` is the mean of S(I - Â, Z) between the classes, divided by the root of the two
    means within them: at most 1/2 for different classes, above 0 where the paper's condition
    (Definition 2) is broken. ``shared`` is the class that both have as neighbours most, and
    ``share`` how much of their neighbourhoods it is, in the class where it is less.
    """

    first: int
    second: int
    likeness: float
    shared: int
    share: float


def alike_after_diversification(
    graph: Graph,
    *,
    normalization: Normalization = "random-walk",
    renormalize: bool = True,
    likeness: float = LIKENESS,
) -> tuple[AlikeClasses, ...]:
    r"""Return the pairs of classes that the high-pass channel cannot tell apart.

    The appendix on limitations: when several small classes are linked to the same large one, their
    nodes differ from their neighbours in the same way, and the high-pass filter cannot tell these
    classes apart although no edge joins them. Labels alone are looked at: features may still
    separate the classes. Pairs come with the largest likeness first; the cost is one product of Â
    with the labels.

    >>> from heterophily.data.synthetic.toy import toy_graph
    >>> pairs = alike_after_diversification(toy_graph("diversification-fails"))
    >>> [(pair.first, pair.second) for pair in pairs]
    [(0, 3), (1, 2)]
    >>> alike_after_diversification(toy_graph("diversification-helps"))
    ()
    """
    need_labels(graph, _NAME, classes=2)
    one_hot = one_hot_labels(graph.labels, graph.num_classes)
    operator = NormalizedAdjacency.of(graph.adjacency, kind=normalization, renormalize=renormalize)
    signal = one_hot.toarray() - operator @ one_hot.toarray()  # (I - Â) Z
    sizes = np.maximum(np.asarray(one_hot.sum(axis=0)).ravel(), 1.0)
    means = np.asarray(one_hot.T @ signal) / sizes[:, None]  # the mean row of each class, (C, C)
    between = means @ means.T  # means of S(I - Â, Z) over pairs of classes
    lengths = np.sqrt(np.maximum(np.diag(between), 0.0))
    found = []
    for first, second in zip(*np.triu_indices(graph.num_classes, 1), strict=True):
        length = lengths[first] * lengths[second]
        if length <= 0.0 or between[first, second] < likeness * length:
            continue
        common = np.minimum(-means[first], -means[second])  # share of each class around both
        shared = int(np.argmax(common))
        found.append(
            AlikeClasses(
                int(first),
                int(second),
                float(between[first, second] / length),
                shared,
                float(common[shared]),
            )
        )
    return tuple(sorted(found, key=lambda pair: (-pair.likeness, pair.first, pair.second)))
