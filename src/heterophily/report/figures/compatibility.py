"""Which classes the neighbours of each class have, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.class_compatibility import class_compatibility
from heterophily.report.figures.request import Request, check_classes
from heterophily.report.style import SEQUENTIAL, hide_rest, label, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CLASSES = 30
_WRITTEN = 10  # up to so many classes the numbers stand in the cells


def matrix(graph: Graph) -> dict[str, Any]:
    """Return the shares of class l among the neighbours of class k, and the class sizes.

    >>> matrix(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]))["shares"]
    [[0.666667, 0.333333], [1.0, 0.0]]
    """
    check_classes(graph, "class compatibility")
    if graph.num_classes > MOST_CLASSES:
        raise InputError(
            f"{graph.name} has {graph.num_classes} classes; the heat map shows at most "
            f"{MOST_CLASSES}: heterophily.class_compatibility(graph) gives the numbers"
        )
    sizes = np.bincount(graph.labels[graph.is_labelled], minlength=graph.num_classes)
    return {
        "graph": graph.name,
        "classes": list(graph.class_names),
        "sizes": [int(size) for size in sizes],
        "shares": np.round(class_compatibility(graph), 6).tolist(),
    }


def collect(request: Request) -> dict[str, Any]:
    """Measure every graph."""
    return {"panels": [matrix(request.open(graph)) for graph in request.graphs]}


def draw(data: dict[str, Any]) -> Figure:
    """Draw a heat map per graph; one colour scale for all."""
    panels = data["panels"]
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(rows, columns, size=(0.7 + 2.75 * columns, 0.5 + 2.5 * rows))
    image: Any = None
    for panel, found in zip(axes.flat, panels, strict=False):
        shares = np.array(found["shares"])
        count = len(shares)
        image = panel.pcolormesh(shares, cmap=SEQUENTIAL, vmin=0, vmax=1)
        if count <= _WRITTEN:
            for (row, column), value in np.ndenumerate(shares):
                colour = "black" if value > 0.55 else "white"
                panel.text(
                    column + 0.5, row + 0.5, f"{value:.2f}".lstrip("0") if value < 1 else "1",
                    ha="center", va="center", fontsize=6.5, color=colour,
                )  # fmt: skip
        names = [label(name, letters=14) for name in found["classes"]]
        size = 7.5 if count <= _WRITTEN else 5
        turn = 90 if max(map(len, names)) > 3 else 0
        panel.set_xticks(np.arange(count) + 0.5, names, fontsize=size, rotation=turn)
        panel.set_yticks(np.arange(count) + 0.5, names, fontsize=size)
        panel.set(ylim=(count, 0), aspect="equal")
        panel.set_title(label(found["graph"]), fontsize=9)
        panel.set_xlabel("class of the neighbour", fontsize=8)
        panel.set_ylabel("class of the node", fontsize=8)
        panel.grid(False)
        panel.tick_params(length=0)
    hide_rest(axes, len(panels))
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30)
    bar.set_label("share of the neighbours", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Say how much of each class stays in its class."""
    said = []
    for found in data["panels"]:
        own = np.diag(np.array(found["shares"]))
        said.append(
            f"{found['graph']}: between {own.min():.2f} and {own.max():.2f} of a class's "
            "neighbours are of the same class"
        )
    return "Heat maps of class compatibility. " + "; ".join(said) + "."
