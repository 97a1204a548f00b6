"""Do neighbours' classes tell anything? With few labels, the classes that own features predict for
neighbours stand in for their labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.diagnosis.shuffle import SHUFFLES, Shuffled, informativeness, shuffled

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]


def predicted_informativeness(
    edges: sp.csr_array,
    labels: Nodes,
    fold: Nodes,
    predicted: list[Nodes],
    *,
    num_classes: int,
    rng: np.random.Generator,
) -> Shuffled:
    """Compare the labels of nodes with the classes predicted for their neighbours.

    ``edges`` (n, M) lead from n labelled nodes, whose labels are ``labels``, to M nodes;
    ``predicted[k]`` (M,) are the classes that a classifier on own features, fitted without fold k,
    gives those. A node looks at the
    predictions that did not use its label. Where edges between labelled nodes are a handful, edges
    from a labelled node to any node are many; what they say is diluted by wrong predictions, never
    invented: labels are shuffled among the nodes for comparison.
    """
    counts = np.zeros((labels.size, num_classes))
    for number, guess in enumerate(predicted):
        mine = np.flatnonzero(fold == number)
        signal = np.eye(num_classes, dtype=np.float32)[guess]
        counts[mine] = edges[mine] @ signal

    def value(answers: Nodes) -> float:
        return informativeness(np.eye(num_classes)[answers].T @ counts)

    null = np.array([value(rng.permutation(labels)) for _ in range(SHUFFLES)])
    return shuffled(value(labels), null)
