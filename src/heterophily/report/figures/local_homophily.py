"""How local homophily is distributed over the nodes (Figures 4 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.report.figures.request import Request, check_classes, shares
from heterophily.report.style import BLACK, BLUE, GREY, hide_rest, label, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 20


def histogram(graph: Graph) -> dict[str, Any]:
    r"""Count the nodes by :math:`H_\text{node}^v` in 20 bins from 0 to 1.

    >>> found = histogram(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]))
    >>> found["counts"][0], found["counts"][10], found["mean"], found["undefined"]
    (1, 1, 0.5, 0)
    """
    check_classes(graph, "local homophily")
    values = node_homophily_values(graph)
    return {
        "graph": graph.name,
        "counts": shares(values, BINS),
        "mean": round(float(np.nanmean(values)), 6),
        "undefined": int(np.isnan(values).sum()),
    }


def collect(request: Request) -> dict[str, Any]:
    """Count on every graph."""
    return {"panels": [histogram(request.open(graph)) for graph in request.graphs]}


def draw(data: dict[str, Any]) -> Figure:
    """Draw a histogram per graph, the mean as a line."""
    panels = data["panels"]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(
        rows, columns, size=(0.5 + 2.15 * columns, 0.6 + 1.5 * rows), sharex=True
    )
    for panel, found in zip(axes.flat, panels, strict=False):
        counts = np.array(found["counts"])
        share, left = counts / max(1, counts.sum()), np.arange(counts.size) / counts.size
        panel.bar(left, share, 1 / counts.size, align="edge", color=BLUE, edgecolor="white", lw=0.4)
        panel.axvline(found["mean"], color=BLACK, linewidth=1, linestyle="--")
        panel.set_title(f"{label(found['graph'])} (mean {found['mean']:.2f})", fontsize=9)
        panel.tick_params(labelsize=7.5, colors=GREY)
        panel.set_xlim(0, 1)
    hide_rest(axes, len(panels))
    for panel in axes[:, 0]:
        panel.set_ylabel("share of nodes", fontsize=8)
    for panel in axes.flat[max(0, len(panels) - columns) : len(panels)]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel(r"$H_\mathrm{node}^v$", fontsize=8)
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Say where most nodes of each graph are."""
    said = []
    for found in data["panels"]:
        counts = np.array(found["counts"])
        low, high = counts[: BINS // 4].sum(), counts[-BINS // 4 :].sum()
        total = max(1, counts.sum())
        said.append(
            f"{found['graph']}: mean {found['mean']:.2f}, {100 * low / total:.0f} % of the nodes "
            f"below 0.25 and {100 * high / total:.0f} % from 0.75"
        )
    return "Histograms of local homophily. " + "; ".join(said) + "."
