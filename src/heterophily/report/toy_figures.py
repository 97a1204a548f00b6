"""Heat maps of S(A, X) and S(I - A, X) for graphs small enough to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.filters.filter import HIGH, LOW, Filter
from heterophily.filters.normalization import normalized_adjacency
from heterophily.report.style import BLACK, DIVERGING, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NODES = 30
_RANGE = 1.3  # of the colours: a little more than one-hot features give


def similarity_matrix(graph: Graph, filter: Filter) -> NDArray[np.float64]:
    r"""Return S(F, X) = F X (F X)^T as an (N, N) array (Eq. 4); for at most 30 nodes.

    >>> from heterophily.data.synthetic.toy import toy_graph
    >>> similarity_matrix(toy_graph("harmless-heterophily"), LOW)[0, [1, 4]].round(2)
    array([0.68, 0.32])
    """
    if graph.num_nodes > _MOST_NODES:
        raise InputError(
            f"{graph.name} has {graph.num_nodes} nodes; the similarity matrix is shown for at most "
            f"{_MOST_NODES}"
        )
    if graph.features is None:
        raise InputError(f"{graph.name} has no features")
    features: Any = graph.features
    dense = features.toarray() if sp.issparse(features) else np.asarray(features, np.float64)
    operator = normalized_adjacency(graph.adjacency)
    signal = filter.identity * dense + filter.aggregate * (operator @ dense)
    return np.asarray(signal @ signal.T)


def heat_maps(graph: Graph) -> Figure:
    """Draw S(A, X) and S(I - A, X) side by side; lines separate the classes."""
    titles = {
        r"$S(\hat A, X)$: aggregation": similarity_matrix(graph, LOW),
        r"$S(I - \hat A, X)$: diversification": similarity_matrix(graph, HIGH),
    }
    nodes = graph.num_nodes
    borders = np.flatnonzero(np.diff(graph.labels)) + 1
    size = 0.42 * nodes + 0.9
    with style():
        figure, axes = new_figure(1, 2, size=(2 * size, size))
        for panel, (title, matrix) in zip(axes[0], titles.items(), strict=True):
            panel.pcolormesh(matrix, cmap=DIVERGING, vmin=-_RANGE, vmax=_RANGE)
            for (row, column), value in np.ndenumerate(matrix):
                text = f"{value:.2f}".replace("-0.00", "0.00")
                colour = "white" if abs(value) > 0.6 * _RANGE else BLACK
                where = (column + 0.5, row + 0.5)
                panel.text(*where, text, ha="center", va="center", fontsize=6.5, color=colour)
            for border in borders:
                panel.axhline(border, color=BLACK, linewidth=1)
                panel.axvline(border, color=BLACK, linewidth=1)
            panel.set_xticks(np.arange(nodes) + 0.5, graph.node_ids)
            panel.set_yticks(np.arange(nodes) + 0.5, graph.node_ids)
            panel.set(xlim=(0, nodes), ylim=(nodes, 0), aspect="equal")
            panel.set_title(title)
            panel.grid(False)
            panel.tick_params(length=0)
    return figure
