"""Numbers of nodes that depend on the graph alone, not on how the nodes are numbered."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ROUNDS = 4


def structural_colours(pattern: sp.csr_array) -> NDArray[np.float64]:
    """Return a number for each node, (N,), from its degree and those around it.

    A refinement in the manner of Weisfeiler and Leman with real numbers: each round adds a
    nonlinear function of the neighbours' numbers. Nodes that four rounds of it cannot tell apart
    get equal numbers; renumbering the nodes renumbers the answer.

    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> first, middle, last = structural_colours(path)
    >>> bool(first == last), bool(first == middle)
    (True, False)
    """
    colours = np.asarray(np.diff(pattern.indptr), dtype=np.float64)
    for _ in range(_ROUNDS):
        heard = pattern @ np.sin(1.0 + 1.7 * colours)
        colours = np.round(0.5 * colours + np.cos(heard) + 0.1 * heard, 9)  # sums in any order
    return colours
